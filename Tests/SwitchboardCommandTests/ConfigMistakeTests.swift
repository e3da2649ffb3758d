import Foundation
import TestSupport
import Testing

@testable import SwitchboardCommand

/// Mistakes in service configs and in the flags that name them.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConfigMistakeTests {
  private func check(_ json: String, _ flags: String...) throws -> (code: Int32, lines: [String]) {
    let run = try Command.product("switchboard", ["check-config", "-"] + flags, input: Array(json.utf8))
    return (run.exitCode, String(decoding: run.output, as: UTF8.self).split(separator: "\n").map(String.init))
  }

  @Test func aMisspeltMemberIsFound() throws {
    let found = try check(
      """
      {"methodConfig": [{"name": [{"servce": "a.B"}], "retryPolcy": {}, "timeout": "1s"}],
       "loadBalancingConfig": [{"round_robin": {}}], "helthCheckConfig": {}}
      """
    )
    #expect(found.code == 65)
    #expect(found.lines.count == 3)
    let expected = [
      ("methodConfig[0].retryPolcy: is unknown and ignored;", "(did you mean retryPolicy?)"),
      ("methodConfig[0].name[0].servce: is unknown", "(did you mean service?)"),
      ("helthCheckConfig: is unknown", "(did you mean healthCheckConfig?)"),
    ]
    for (start, end) in expected {
      #expect(
        found.lines.contains { $0.hasPrefix("standard input: \(start)") && $0.hasSuffix(end) },
        "\(start)"
      )
    }
  }

  @Test func everyMistakeIsListed() throws {
    let found = try check(
      """
      {"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "1"}, {"name": [{}], "retryPolicy": {}}, {}, 5],
       "retryThrottling": {"maxTokens": "x"}}
      """
    )
    #expect(found.code == 65)
    #expect(
      found.lines == [
        #"standard input: methodConfig[0].timeout: is not a duration such as "1.5s""#,
        "standard input: methodConfig[1].retryPolicy.maxAttempts: is missing",
        "standard input: methodConfig[2].name: is missing, so this is for no method",
        "standard input: methodConfig[3]: is not an object",
        "standard input: retryThrottling.maxTokens: is not a number",
      ]
    )
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
    #expect(found.lines == ["standard input: two method configs are for all methods of a.B"])
  }

  @Test func aCorrectConfigIsAccepted() throws {
    let json = """
      {"methodConfig": [{"name": [{"service": "a.B", "method": "C"}], "waitForReady": true,
        "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
          "retryableStatusCodes": ["UNAVAILABLE"]}}],
       "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}, "healthCheckConfig": {"serviceName": ""},
       "loadBalancingConfig": [{"weighted_target": {"targets": {"any name": {"weight": 1,
         "childPolicy": [{"outlier_detection": {"interval": "1s", "childPolicy": [{"least_request": {"choiceCount": 2}}]}}]}}}}]}
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
