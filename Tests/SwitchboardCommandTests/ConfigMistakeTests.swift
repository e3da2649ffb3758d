import Foundation
import Switchboard
import SwitchboardText
import TestSupport
import Testing

@testable import SwitchboardCommand

/// Mistakes in service configs and in the flags that name them.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConfigMistakeTests {
  private func check(_ json: String, _ flags: String...) throws -> (code: Int32, lines: [String]) {
    let run = try Command.product("switchboard", ["check-config", "-"] + flags, input: Array(json.utf8))
    return (run.exitCode, String(decoding: run.output, as: UTF8.self).split(separator: "\n").map(String.init))
  }

  /// What was found, without the lines that are shown below it.
  private func findings(_ json: String, _ flags: String...) throws -> [String] {
    let run = try Command.product("switchboard", ["check-config", "-"] + flags, input: Array(json.utf8))
    #expect(run.exitCode == 65)
    let lines = String(decoding: run.output, as: UTF8.self).split(separator: "\n")
    let place = /standard input:[0-9]+:[0-9]+:./
    return lines.filter { $0.starts(with: place) }.map { String($0.trimmingPrefix(place)) }
  }

  @Test func aMisspeltMemberIsFound() throws {
    let found = try check(
      """
      {"methodConfig": [{"name": [{"servce": "a.B"}], "retryPolcy": {}, "timeout": "1s"}],
       "loadBalancingConfig": [{"round_robin": {}}], "helthCheckConfig": {}}
      """
    )
    #expect(found.code == 65)
    #expect(found.lines.count == 9)
    let expected = [
      ("1:49: methodConfig[0].retryPolcy: is unknown and ignored;", "(did you mean retryPolicy?)"),
      ("1:30: methodConfig[0].name[0].servce: is unknown", "(did you mean service?)"),
      ("2:48: helthCheckConfig: is unknown", "(did you mean healthCheckConfig?)"),
    ]
    for (start, end) in expected {
      #expect(
        found.lines.contains { $0.hasPrefix("standard input:\(start)") && $0.hasSuffix(end) },
        "\(start)"
      )
    }
  }

  /// The records of a name have another form than a channel's option.
  @Test(arguments: [
    (#"[{"serviceConfig": {}}]"#, "it is not an object: "),
    (#"{"clientLanguage": [], "serviceConfig": {}}"#, ""),
  ])
  func theFormOfDNSRecordsIsRecognized(_ json: String, _ start: String) throws {
    let expected =
      "\(start)the form with serviceConfig is for DNS records only (gRFC A2); a channel takes what is in its serviceConfig"
    let found = try check(json)
    #expect(found.code == 65 && found.lines.first?.hasSuffix(expected) == true, "\(found.lines)")
  }

  @Test func aBootstrapIsRecognized() throws {
    let found = try check(#"{"xds_servers": [{"server_uri": "a"}], "node": {}}"#)
    #expect(
      found.code == 65 && found.lines.first?.contains("it is a bootstrap of xds: targets") == true,
      "\(found.lines)"
    )
    #expect(found.lines.count == 1)
  }

  @Test func aDurationThatIsANumberIsExplained() throws {
    let json =
      #"{"methodConfig": [{"name": [{}], "timeout": 5}, {"name": [{"service": "a.B"}], "timeout": 0.5}]}"#
    #expect(
      try findings(json) == [
        #"methodConfig[0].timeout: is a number: write "5s", a duration in seconds"#,
        #"methodConfig[1].timeout: is a number: write "0.5s", a duration in seconds"#,
      ]
    )
  }

  @Test func everyMistakeIsListed() throws {
    let json = """
      {"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "1"}, {"name": [{}], "retryPolicy": {}}, {}, 5],
       "retryThrottling": {"maxTokens": "x"}}
      """
    #expect(
      try findings(json) == [
        #"methodConfig[0].timeout: is not a duration such as "1.5s""#,
        "methodConfig[1].retryPolicy.maxAttempts: is missing",
        "methodConfig[1].retryPolicy.initialBackoff: is missing",
        "methodConfig[1].retryPolicy.maxBackoff: is missing",
        "methodConfig[1].retryPolicy.backoffMultiplier: is missing",
        "methodConfig[1].retryPolicy.retryableStatusCodes: is empty",
        "methodConfig[2].name: is missing or empty, so this is for no method",
        "methodConfig[3]: is not an object",
        "retryThrottling.tokenRatio: is missing",
        "retryThrottling.maxTokens: is not a number",
      ]
    )
    #expect(
      try check(json).lines.suffix(3) == [
        "standard input:2:22: retryThrottling.maxTokens: is not a number",
        #" "retryThrottling": {"maxTokens": "x"}}"#, #"                     ^"#,
      ]
    )
  }

  @Test func everyMistakeOfAPolicyIsListed() throws {
    let retry = """
      {"maxAttempts": 1, "initialBackoff": "0s", "maxBackoff": 5, "backoffMultiplier": 2,
       "retryableStatusCodes": ["NONE", "OK", 99], "maxAttemps": 3}
      """
    #expect(
      try findings(
        #"{"methodConfig": [{"name": [{"service": "a.B"}]}, {"name": [{}], "retryPolicy": \#(retry)}]}"#
      ) == [
        "methodConfig[1].retryPolicy.maxAttempts: is 1, below 2",
        "methodConfig[1].retryPolicy.initialBackoff: is 0.0 seconds, not above 0",
        "methodConfig[1].retryPolicy.maxBackoff: is a number: write \"5s\", a duration in seconds",
        "methodConfig[1].retryPolicy.retryableStatusCodes: contains OK",
        "methodConfig[1].retryPolicy.retryableStatusCodes[0]: is not a status code such as \"UNAVAILABLE\"",
        "methodConfig[1].retryPolicy.retryableStatusCodes[2]: is not a status code such as \"UNAVAILABLE\"",
        "methodConfig[1].retryPolicy.maxAttemps: is unknown and ignored; known there: maxAttempts, initialBackoff, "
          + "maxBackoff, backoffMultiplier, retryableStatusCodes (did you mean maxAttempts?)",
      ]
    )
    let ring = #"{"minRingSize": 0, "maxRingSize": "x", "requestHashHeader": 5}"#
    #expect(try findings(#"{"loadBalancingConfig": [{"ring_hash": \#(ring)}]}"#).count == 3)
  }

  /// They are valid, and match or allow nothing.
  /// No wildcards are known.
  @Test(arguments: ["*", "shop.*", "Buy ", "a-b"])
  func aNameThatIsNone(_ name: String) throws {
    let json = #"{"methodConfig": [{"name": [{"service": "\#(name)"}], "timeout": "1s"}]}"#
    let found = try findings(json)
    #expect(
      found == [
        "methodConfig[0].name[0].service: is no name, so it names nothing: without 'method', all methods of the service are "
          + "meant, and {} stands for all services"
      ]
    )
  }

  @Test func tokensThatAllowNoRetry() throws {
    let policy =
      #"{"maxAttempts": 2, "initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}"#
    func config(_ tokens: Int) -> String {
      #"{"methodConfig": [{"name": [{}], "retryPolicy": \#(policy)}], "retryThrottling": {"maxTokens": \#(tokens), "tokenRatio": 0.1}}"#
    }
    #expect(
      try findings(config(2)) == [
        "retryThrottling.maxTokens: is 2: no call is made again after the first failure; 3 is the least"
      ]
    )
    #expect(try check(config(3)).code == 0)
  }

  @Test func valuesWithoutAnEffectAreFound() throws {
    let json =
      #"{"methodConfig": [{"name": [{"service": "shop.Shop/Buy"}, {"service": "a.B", "method": "B/C"}], "timeout": "0s"}]}"#
    let slash = "has a slash, so it names nothing: 'service' and 'method' are two members"
    #expect(
      try findings(json) == [
        "methodConfig[0].name[0].service: \(slash)", "methodConfig[0].name[1].method: \(slash)",
        "methodConfig[0].timeout: is zero: calls of these methods would fail at once",
      ]
    )
    #expect(try ServiceConfig(json: json).remarks.count == 3)
  }

  private static let retry =
    #""maxAttempts": 2, "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]"#

  /// They are valid, and hardly meant, alone or beside others.
  @Test(arguments: [
    (
      #"{"loadBalancingConfig": [{"pick_first": {}}], "healthCheckConfig": {"serviceName": "a"}}"#,
      "healthCheckConfig: has no effect with the policy pick_first; policies such as round_robin check health"
    ),
    (
      #"{"healthCheckConfig": {}}"#,
      #"healthCheckConfig.serviceName: is missing, so no health is checked; "" is the server's as a whole"#
    ),
    (
      #"{"loadBalancingConfig": [{"outlier_detection": {"childPolicy": [{"round_robin": {}}]}}]}"#,
      "loadBalancingConfig[0].outlier_detection.successRateEjection: is missing, and so is failurePercentageEjection: "
        + "no endpoint is ever ejected"
    ),
    (
      #"{"loadBalancingConfig": [{"outlier_detection": {"childPolicy": [{"round_robin": {}}], "#
        + #""failurePercentageEjection": {"enforcementPercentage": 0}}}]}"#,
      "loadBalancingConfig[0].outlier_detection.failurePercentageEjection.enforcementPercentage: is zero: no endpoint "
        + "is ejected by this rule"
    ),
    (
      #"{"methodConfig": [{"name": [{}], "retryPolicy": {\#(retry), "initialBackoff": "5s", "maxBackoff": "1s"}}]}"#,
      "methodConfig[0].retryPolicy.maxBackoff: is 1.0 seconds, below initialBackoff: no wait is longer than this"
    ),
    (
      #"{"methodConfig": [{"name": [{}], "timeout": "0.2s", "hedgingPolicy": {"maxAttempts": 2, "hedgingDelay": "1s"}}]}"#,
      "methodConfig[0].hedgingPolicy.hedgingDelay: is 1.0 seconds, and the timeout is 0.2 seconds: it ends the call "
        + "before a second attempt"
    ),
    (
      #"{"retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}}"#,
      "retryThrottling: has no effect: no methodConfig has a retryPolicy or a hedgingPolicy"
    ),
    (
      #"{"loadBalancingConfig": [{"priority": {"children": {"near": {"config": [{"round_robin": {}}]}, "#
        + #""far": {"config": [{"round_robin": {}}]}}, "priorities": ["near"]}}]}"#,
      "loadBalancingConfig[0].priority.children.far: is not one of the priorities, so it gets no calls"
    ),
    (
      #"{"loadBalancingConfig": [{"priority": {}}]}"#,
      "loadBalancingConfig[0].priority.priorities: has no child, so each call fails"
    ),
    (
      #"{"loadBalancingConfig": [{"weighted_target": {"targets": {}}}]}"#,
      "loadBalancingConfig[0].weighted_target.targets: has no child, so each call fails"
    ),
    (
      #"{"methodConfig": [{"name": [{"service": "a.B"}]}]}"#,
      "methodConfig[0]: has names, and nothing that would be for them"
    ),
    (
      #"{"methodConfig": [{"name": [{"service": "a.B"}, {}]}]}"#,
      "methodConfig[0]: has names, and nothing that would be for them"
    ),
    (
      #"{"methodConfig": [{"name": [{}], "maxRequestMessageBytes": 0}]}"#,
      "methodConfig[0].maxRequestMessageBytes: is zero: only empty requests can be sent"
    ),
    (
      #"{"methodConfig": [{"name": [{}], "maxResponseMessageBytes": 0}]}"#,
      "methodConfig[0].maxResponseMessageBytes: is zero: only empty responses can be received"
    ),
    (
      #"{"loadBalancingConfig": [{"least_request": {"choiceCount": 50}}]}"#,
      "loadBalancingConfig[0].least_request.choiceCount: is 50: no more than 10 endpoints are drawn"
    ),
    (
      #"{"loadBalancingConfig": [{"ring_hash": {"minRingSize": 5000, "maxRingSize": 9000, "#
        + #""requestHashHeader": "tenant"}}]}"#,
      "loadBalancingConfig[0].ring_hash.minRingSize: is 5000: no ring is larger than 4096"
    ),
    (
      #"{"loadBalancingConfig": [{"weighted_round_robin": {"oobReportingPeriod": "1s"}}]}"#,
      "loadBalancingConfig[0].weighted_round_robin.oobReportingPeriod: has no effect unless enableOobLoadReport is true"
    ),
    (
      #"{"loadBalancingConfig": [{"weighted_round_robin": {"enableOobLoadReport": true, "#
        + #""weightExpirationPeriod": "10s"}}]}"#,
      "loadBalancingConfig[0].weighted_round_robin.weightExpirationPeriod: is not above oobReportingPeriod: a weight "
        + "ends before the next report"
    ),
    (
      #"{"loadBalancingConfig": [{"weighted_round_robin": {"blackoutPeriod": "300s"}}]}"#,
      "loadBalancingConfig[0].weighted_round_robin.blackoutPeriod: is above weightExpirationPeriod: an endpoint whose "
        + "reports pause may never get a weight"
    ),
    (
      #"{"loadBalancingConfig": []}"#,
      "loadBalancingConfig: is empty: it names no policy, so that the default is used"
    ),
    (
      #"{"loadBalancingConfig": [{"ring_hash_experimental": {"requestHashHeader": "User-Agent"}}]}"#,
      "loadBalancingConfig[0].ring_hash_experimental.requestHashHeader: is no metadata of calls, so the hash of each "
        + "call is random"
    ),
    (
      #"{"methodConfig": [{"name": [{}], "timeout": "0.05s", "retryPolicy": {"maxAttempts": 3, "#
        + #""initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2, "#
        + #""retryableStatusCodes": ["UNAVAILABLE"]}}]}"#,
      "methodConfig[0].retryPolicy.initialBackoff: is 0.1 seconds, and the timeout is 0.05 seconds: it ends the call "
        + "before a second attempt"
    ),
    (
      #"{"loadBalancingConfig": [{"round_robin": {}}], "loadBalancingPolicy": "pick_first"}"#,
      "loadBalancingPolicy: has no effect beside loadBalancingConfig, which names other policies"
    ),
  ]) func settingsThatAreHardlyMeantAreFound(_ json: String, _ finding: String) throws {
    #expect(try findings(json) == [finding])
  }

  /// Nobody means them, and they are legal: a channel does not log them.
  @Test(arguments: [
    (
      #"{"loadBalancingConfig": [{"ring_hash": {}}]}"#,
      "loadBalancingConfig[0].ring_hash.requestHashHeader: is missing, so the hash of each call is random: name the "
        + "metadata that chooses the server"
    ),
    (
      #"{"loadBalancingConfig": [{"weighted_round_robin": {}}, {"pick_first": {}}, {"ring_hash": {}}]}"#,
      "loadBalancingConfig[2].ring_hash: is never used: it comes after pick_first, which all clients have"
    ),
    (
      #"{"loadBalancingConfig": [{"outlier_detection": {"successRateEjection": {}, "#
        + #""childPolicy": [{"round_robin": {}}, {"least_request": {}}]}}]}"#,
      "loadBalancingConfig[0].outlier_detection.childPolicy[1].least_request: is never used: it comes after round_robin, "
        + "which all clients have"
    ),
    (
      #"{"methodConfig": [{"name": [{}], "retryPolicy": {\#(retry), "initialBackoff": "1s", "maxBackoff": "1s"}}], "#
        + #""retryThrottling": {"maxTokens": 10, "tokenRatio": 10.5}}"#,
      "retryThrottling.tokenRatio: is above maxTokens: one success undoes all failures before it"
    ),
  ]) func whatOnlyTheCheckSaysIsFound(_ json: String, _ finding: String) throws {
    #expect(try findings(json) == [finding])
    #expect(try ServiceConfig(json: json).remarks.isEmpty)
  }

  /// Some services mean them.
  @Test(arguments: [
    (
      #""hedgingPolicy": {"maxAttempts": 5}"#,
      "hedgingPolicy.hedgingDelay: is missing: all 5 attempts are made at once"
    ),
    (
      #""hedgingPolicy": {"maxAttempts": 2, "hedgingDelay": "0s", "nonFatalStatusCodes": ["INTERNAL", "UNIMPLEMENTED"]}"#,
      "hedgingPolicy.nonFatalStatusCodes: contains UNIMPLEMENTED: other attempts are likely to end in the same way"
    ),
    (
      #""retryPolicy": {"maxAttempts": 2, "backoffMultiplier": 2, "initialBackoff": "1s", "maxBackoff": "1s", "#
        + #""retryableStatusCodes": ["UNAVAILABLE", 5, "INVALID_ARGUMENT"]}"#,
      "retryPolicy.retryableStatusCodes: contains INVALID_ARGUMENT, NOT_FOUND: other attempts are likely to end in the "
        + "same way"
    ),
  ]) func whatMayBeMeantIsNoted(_ policy: String, _ finding: String) throws {
    let json = #"{"methodConfig": [{"name": [{}], \#(policy)}]}"#
    let found = try check(json)
    #expect(found.code == 0)
    let shown = found.lines.filter { $0.hasPrefix("standard input:") }
    #expect(
      shown.count == 1 && shown.first?.hasSuffix(": methodConfig[0].\(finding)") == true,
      "\(found.lines)"
    )
    #expect(try ServiceConfig(json: json).remarks.isEmpty)
  }

  /// Each would be found in another place, and is right here.
  @Test(arguments: [
    #"{"healthCheckConfig": {"serviceName": ""}, "loadBalancingConfig": [{"round_robin": {}}]}"#,
    // Its clients may have a policy of their own.
    #"{"healthCheckConfig": {"serviceName": ""}}"#,
    // The method has none of the settings of its service.
    #"{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "1s"}, {"name": [{"service": "a.B", "method": "C"}]}]}"#,
    #"{"methodConfig": [{"name": [{}], "timeout": "1s"}, {"name": [{"service": "a.B"}]}]}"#,
    // For clients that do not know the first.
    #"{"loadBalancingConfig": [{"weighted_round_robin": {}}, {"round_robin": {}}], "loadBalancingPolicy": "round_robin"}"#,
    #"{"methodConfig": [{"name": [{}], "hedgingPolicy": {"maxAttempts": 2}}], "#
      + #""retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}}"#,
    #"{"loadBalancingConfig": [{"weighted_round_robin": {"enableOobLoadReport": true, "oobReportingPeriod": "1s"}}]}"#,
  ]) func settingsWithAnEffectAreNotFound(_ json: String) throws {
    #expect(try check(json).code == 0)
    #expect(try ServiceConfig(json: json).remarks.isEmpty)
  }

  /// It is one mistake, and not two.
  @Test func anUnknownPolicyOfACallIsSaidOnce() throws {
    let words = ["call", "127.0.0.1:1", "shop.Shop/Buy", "--proto", Run.protos + "/shop.proto"]
    let config = #"{"loadBalancingConfig": [{"round_robbin": {}}]}"#
    let run = try Command.product("switchboard", words + ["--service-config", config])
    #expect(run.exitCode == 65)
    #expect(run.errors.split(separator: "round_robbin").count == 2, "\(run.errors)")
    #expect(
      run.errors.hasPrefix(
        "switchboard: --service-config: service config: loadBalancingConfig[0].round_robbin"
      )
    )
    #expect(run.errors.contains("(did you mean round_robin?)"))
  }

  @Test func namesThatTheFilesLackAreFound() throws {
    let json = """
      {"methodConfig": [{"name": [{"service": "shop.Shop", "method": "Buy"}, {"service": "shop.Shp"}, {}],
        "timeout": "9s"}, {"name": [{"service": "shop.Shop", "method": "Bye"}]}]}
      """
    #expect(
      try findings(json, "--proto", Run.protos + "/shop.proto") == [
        "methodConfig[0].name[1].service: no such service is known: 'shop.Shp' (did you mean shop.Shop?)",
        "methodConfig[1].name[0].method: shop.Shop has no such method: 'Bye' (did you mean Buy?)",
      ]
    )
    #expect(try check(json).code == 0)
  }

  @Test func aServiceOfHealthThatTheFilesLackIsFound() throws {
    let proto = Run.protos + "/shop.proto"
    func config(_ name: String) -> String {
      #"{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": "\#(name)"}}"#
    }
    let reason = "healthCheckConfig.serviceName: no such service is known"
    for (name, hint) in [
      ("shop.Shp", " (did you mean shop.Shop?)"), ("Shp", " (did you mean shop.Shop?)"),
      ("other.Service", ""),
    ] {
      #expect(try findings(config(name), "--proto", proto) == ["\(reason): '\(name)'\(hint)"])
    }
    // One that only probes know is no mistake, nor is any where the services are not known.
    for name in ["shop.Shop", "", "readiness", "grpc.health.v1.Health"] {
      #expect(try check(config(name), "--proto", proto) == (0, []), "\(name)")
    }
    #expect(try check(config("shop.Shp")).code == 0)
  }

  /// Servers have them beside their own.
  @Test func servicesThatServersBringAlongAreKnown() throws {
    func config(_ service: String, _ method: String) -> String {
      #"{"methodConfig": [{"name": [{"service": "\#(service)", "method": "\#(method)"}], "timeout": "1s"}]}"#
    }
    let proto = Run.protos + "/shop.proto"
    for (service, method) in [
      ("grpc.health.v1.Health", "Check"), ("grpc.health.v1.Health", ""),
      ("grpc.reflection.v1.ServerReflection", "ServerReflectionInfo"),
      ("grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo"),
      ("grpc.channelz.v1.Channelz", "GetServers"),
      ("xds.service.orca.v3.OpenRcaService", "StreamCoreMetrics"),
    ] {
      #expect(try check(config(service, method), "--proto", proto) == (0, []), "\(service)")
    }
    #expect(
      try findings(config("grpc.health.v1.Health", "Chek"), "--proto", proto) == [
        "methodConfig[0].name[0].method: grpc.health.v1.Health has no such method: 'Chek' (did you mean Check?)"
      ]
    )
  }

  @Test func aTrailingCommaIsShown() throws {
    for (json, place) in [
      ("{\"methodConfig\": [\n {},\n]}", "2:4"), ("{\"methodConfig\": [],\n \n}", "1:20"),
      ("[1 , ]", "1:4"),
    ] {
      let found = try check(json)
      #expect(found.code == 65)
      #expect(
        found.lines.first
          == "standard input:\(place): invalid JSON: a trailing comma, which JSON does not allow"
      )
      #expect(found.lines.count == 3 && found.lines.last?.last == "^")
    }
    let call = try Run("call", "127.0.0.1:1", "a.B/C", "--service-config", "{\n \"methodConfig\": [],}")
    #expect(call.exitCode == 65)
    #expect(
      call.errors.contains("a trailing comma, which JSON does not allow (line 2, column 20)"),
      "\(call.errors)"
    )
  }

  @Test func aCommentIsShown() throws {
    for (json, place) in [
      ("// ours\n{}", "1:1"), ("{ # none\n}", "1:3"), ("{\"methodConfig\": [/* none */]}", "1:19"),
      ("{\"methodConfig\": [] /* none */}", "1:21"), ("{} // end", "1:4"),
    ] {
      #expect(
        try check(json).lines.first
          == "standard input:\(place): invalid JSON: a comment, which JSON does not allow",
        "\(json)"
      )
    }
  }

  /// The text has more bytes than the file.
  @Test func aFileThatIsNotUTF8IsChecked() throws {
    let json = Array(#"{"a": ""#.utf8) + [UInt8](repeating: 0xFF, count: 1000) + Array(#"", "b": 1}"#.utf8)
    let run = try Command.product("switchboard", ["check-config", "-"], input: json)
    #expect(run.exitCode == 65, "\(run.errors)")
    #expect(String(decoding: run.output, as: UTF8.self).contains("standard input:1:1011: b: is unknown"))
  }

  @Test func longNamesAreCut() throws {
    let long = String(repeating: "x", count: 1_000_000)
    for json in [
      #"{"\#(long)": 1}"#, #"{"loadBalancingConfig": [{"\#(long)": {}}]}"#,
      #"{"\#(long)": 1, "\#(long)": 2}"#,
      #"{"methodConfig": [{"name": [{"service": "a", "\#(long)": 1, "method": 5}]}]}"#,
    ] {
      let run = try Run("check-config", "-", input: json)
      #expect(run.exitCode == 65 && run.output.utf8.count < 2000, "\(run.output.prefix(300))")
    }
    #expect(try ServiceConfig(json: #"{"\#(long)": 1}"#).remarks.joined().utf8.count < 500)
  }

  @Test func aMisspeltPolicyAndItsMembersAreFound() throws {
    let found = try check(
      """
      {"loadBalancingConfig": [{"round_robbin": {}}, {"grpclb": {}},
        {"ring_hash": {"minRingSise": 1}}]}
      """
    )
    #expect(found.code == 65)
    #expect(
      found.lines.contains { $0.contains("[0].round_robbin: no load") && $0.contains("mean round_robin?") }
    )
    #expect(found.lines.contains { $0.contains("[2].ring_hash.minRingSise: is unknown") })
    // Other clients have this one.
    #expect(try check(#"{"loadBalancingConfig": [{"grpclb": {}}, {"pick_first": {}}]}"#).code == 0)
    #expect(try check(#"{"loadBalancingConfig": [{"grpclb": {}}]}"#).code == 65)
  }

  @Test func twoConfigsForOneMethodAreFound() throws {
    let found = try check(
      #"{"methodConfig": [{"name": [{"service": "a.B"}]}, {"name": [{"service": "a.B"}]}]}"#
    )
    #expect(found.code == 65)
    let reason = "two method configs are for all methods of a.B: this one and methodConfig[0].name[0]"
    #expect(found.lines.first == "standard input:1:61: methodConfig[1].name[0]: \(reason)")
    #expect(found.lines.count == 3)
    let names = #"{"service": "a.B"}, {"service": "a.B", "method": "C"}"#
    #expect(
      try findings(#"{"methodConfig": [{"name": [\#(names)], "timeout": "1s"}, {"name": [\#(names), {}]}]}"#)
        == [
          "methodConfig[1].name[0]: \(reason)",
          "methodConfig[1].name[1]: two method configs are for a.B/C: this one and methodConfig[0].name[1]",
        ]
    )
  }

  @Test func everyUnknownPolicyIsListedWithItsLine() throws {
    let named = #"{"loadBalancingConfig": [5, {"round_robbin": {}},\n  {"ring-hash": {}}]}"#
    let found = try check(named.replacing("\\n", with: "\n")).lines
    #expect(found.contains("standard input:1:26: loadBalancingConfig[0]: is not an object"))
    for (place, end) in [
      ("1:30: loadBalancingConfig[1].round_robbin: no load", "(did you mean round_robin?)"),
      ("2:4: loadBalancingConfig[2].ring-hash: no load", "(did you mean ring_hash?)"),
    ] {
      #expect(found.contains { $0.hasPrefix("standard input:\(place)") && $0.hasSuffix(end) }, "\(found)")
    }
    let older = try check(#"{"loadBalancingPolicy": "round-robin"}"#).lines.first
    #expect(older?.hasPrefix("standard input:1:2: loadBalancingPolicy: no load balancing policy") == true)
    #expect(older?.hasSuffix("(did you mean round_robin?)") == true)
    // Of a child, too, and what follows it.
    let child = #"{"childPolicy": [{"pickfirst": {}}], "intervall": "1s", "successRateEjection": {}}"#
    #expect(
      try findings(#"{"loadBalancingConfig": [{"outlier_detection": \#(child)}]}"#).map {
        $0.prefix { $0 != " " }
      }
        == [
          "loadBalancingConfig[0].outlier_detection.childPolicy[0].pickfirst:",
          "loadBalancingConfig[0].outlier_detection.intervall:",
        ]
    )
  }

  /// gRFC A6 allows more than five attempts, and has clients make five.
  @Test func attemptsThatAreNotMadeAreFound() throws {
    let retry = """
      {"maxAttempts": 9, "initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 2,
       "retryableStatusCodes": ["UNAVAILABLE"]}
      """
    let reason = "is 9: no more than 5 attempts are made"
    #expect(
      try findings(
        #"{"methodConfig": [{"name": [{"service": "a.B"}], "retryPolicy": \#(retry)}, "#
          + #"{"name": [{"service": "c.D"}], "hedgingPolicy": {"maxAttempts": 9, "hedgingDelay": "1s"}}]}"#
      ) == [
        "methodConfig[0].retryPolicy.maxAttempts: \(reason)",
        "methodConfig[1].hedgingPolicy.maxAttempts: \(reason)",
      ]
    )
  }

  @Test func aCorrectConfigIsAccepted() throws {
    let json = """
      {"methodConfig": [{"name": [{"service": "a.B", "method": "C"}], "waitForReady": true,
        "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
          "retryableStatusCodes": ["UNAVAILABLE"]}}],
       "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}, "healthCheckConfig": {"serviceName": ""},
       "loadBalancingConfig": [{"weighted_target": {"targets": {"any name": {"weight": 1,
         "childPolicy": [{"outlier_detection": {"interval": "1s", "successRateEjection": {}, "childPolicy": [{"least_request": {"choiceCount": 2}}]}}]}}}}]}
      """
    let found = try check(json)
    #expect(found.code == 0 && found.lines.isEmpty, "\(found.lines)")
    #expect(try Run("check-config", "-", "--quiet", input: json).errors.isEmpty)
    #expect(try check("{} {}").code == 65)
    #expect(try check("[]").lines == ["standard input: it is not an object"])
  }

  @Test func aFileThatIsMissingIsReported() throws {
    let run = try Run("check-config", "/nowhere/config.json")
    #expect(run.exitCode == 66)
    #expect(run.errors.contains("/nowhere/config.json"))
  }

  @Test func aServiceConfigWithoutItsAtSignIsExplained() throws {
    let run = try Run("call", "localhost:1", "a.B/C", "--service-config", "config.json")
    #expect(run.exitCode == 65)
    #expect(
      run.errors.contains("To read it from the file 'config.json', write --service-config @config.json")
    )
    let inline = try Run("call", "localhost:1", "a.B/C", "--service-config", #"{"methodConfig": 5}"#)
    #expect(inline.exitCode == 65)
    #expect(!inline.errors.contains("To read it from"))
  }

  @Test(arguments: ["call", "load"]) func aMisspeltMemberIsWarnedOf(_ verb: String) throws {
    let config = #"{"methodConfig": [{"name": [{}], "retryPolcy": {}}]}"#
    let words = [verb, "127.0.0.1:1", "shop.Shop/Buy", "--proto", Run.protos + "/shop.proto"]
    let run = try Command.product("switchboard", words + ["--service-config", config])
    #expect(run.exitCode == 14)
    let warning = "warning: --service-config: methodConfig[0].retryPolcy: is unknown and ignored;"
    #expect(
      run.errors.contains(warning) && run.errors.contains("(did you mean retryPolicy?)"),
      "\(run.errors)"
    )
    let right = try Command.product("switchboard", words + ["--service-config", #"{"methodConfig": []}"#])
    #expect(!right.errors.contains("warning"), "\(right.errors)")
  }

  /// A config may be for others. One that is for none of the calls that are made is probably misspelled.
  @Test(arguments: ["call", "load"]) func aConfigForAnotherMethodIsWarnedOf(_ verb: String) throws {
    let nothing = "no methodConfig is for shop.Shop/Buy, so that none has an effect"
    for (names, warning) in [
      (
        #"{"service": "shop.Shop", "method": "Bye"}"#,
        "methodConfig[0].name[0].method: shop.Shop has no such method: 'Bye' (did you mean Buy?)"
      ),
      (
        #"{"service": "shop.Shp"}"#,
        "methodConfig[0].name[0].service: no such service is known: 'shop.Shp' (did you mean shop.Shop?)"
      ),
      (#"{"service": "shop.Shop", "method": "Watch"}"#, nothing),
      (#"{"service": "grpc.health.v1.Health"}"#, nothing),
      (#"{"service": "shop.Shop"}, {"service": "shop.Shp"}"#, nil), ("{}", nil),
      (#"{"service": "grpc.health.v1.Health"}, {"service": "shop.Shop", "method": "Buy"}"#, nil),
    ] as [(String, String?)] {
      let config = #"{"methodConfig": [{"name": [\#(names)], "timeout": "9s"}]}"#
      let words = [verb, "127.0.0.1:1", "shop.Shop/Buy", "--proto", Run.protos + "/shop.proto"]
      let run = try Command.product("switchboard", words + ["--service-config", config])
      #expect(run.exitCode == 14)
      guard let warning else {
        #expect(!run.errors.contains("warning"), "\(run.errors)")
        continue
      }
      #expect(run.errors.hasPrefix("switchboard: warning: --service-config: \(warning)\n"), "\(run.errors)")
      #expect(run.errors.split(separator: "warning:").count == 2, "\(run.errors)")
    }
  }

  /// For each finding, no more of the line is looked at than is shown: or these would take many minutes.
  @Test(.timeLimit(.minutes(1))) func aLongLineIsNotReadForEachFinding() {
    let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 20_000_000)
    let position = TextPosition(of: 10_000_000, in: bytes)
    let mark = String(repeating: "x", count: 100) + "\n" + String(repeating: " ", count: 60) + "^"
    for _ in 0..<1000 where !Task.isCancelled { #expect(MarkedLine(position, in: bytes).text.text == mark) }
  }

  @Test func theMarkIsBelowItsCharacter() {
    for (text, place, line, mark) in [
      ("", "", "", "^"), ("a\n", "x\n b", "x", "^"), ("a\nöä", "€\tb", "öä€ b", "  ^"), ("a\n", "", "", "^"),
      (
        String(repeating: "€", count: 70), "x", String(repeating: "€", count: 60) + "x",
        String(repeating: " ", count: 60) + "^"
      ),
    ] {
      let position = TextPosition(of: text.utf8.count, in: Array((text + place).utf8))
      #expect(MarkedLine(position, in: Array((text + place).utf8)).text.text == "\(line)\n\(mark)")
    }
  }

  @Test func aMistakeInTheSyntaxIsShownInItsLine() throws {
    let found = try check("{\"a\": 1,\n \"ö\": [1,, 2]}\n")
    #expect(found.code == 65)
    #expect(
      found.lines == [
        "standard input:2:10: invalid JSON: this is not a value", " \"ö\": [1,, 2]}", "         ^",
      ]
    )
    // Of a long line, the part around the mistake.
    let long = try check("{\"a\": [\(String(repeating: "1, ", count: 10_000))}")
    #expect(long.lines.count == 3 && long.lines.allSatisfy { $0.utf8.count <= 100 }, "\(long.lines)")
    #expect(long.lines.last == String(repeating: " ", count: 60) + "^")
    // What controls a terminal takes the place of one character.
    #expect(try check("{\"\u{202E}\": }").lines.suffix(2) == ["{\" \": }", "      ^"])
    let call = try Run("call", "127.0.0.1:1", "a.B/C", "--service-config", "{\n \"a\" 1}")
    #expect(call.errors.contains("a colon is missing (line 2, column 6)"), "\(call.errors)")
  }
}
