import Switchboard
import Testing

@Suite struct ServiceConfigJSONTests {
  @Test func readsEveryMember() throws {
    let config = try ServiceConfig(
      json: """
        {
          "loadBalancingPolicy": "round_robin",
          "methodConfig": [
            {
              "name": [{"service": "a.B", "method": "C"}, {"service": "d.E"}],
              "timeout": "1.5s",
              "waitForReady": true,
              "maxRequestMessageBytes": 100,
              "maxResponseMessageBytes": "200",
              "retryPolicy": {
                "maxAttempts": 4,
                "initialBackoff": "0.1s",
                "maxBackoff": "3s",
                "backoffMultiplier": 2.5,
                "retryableStatusCodes": ["UNAVAILABLE", "aborted", 8],
                "perAttemptRecvTimeout": "1s"
              }
            },
            {
              "name": [{}],
              "hedgingPolicy": {"maxAttempts": 3, "hedgingDelay": "0.5s", "nonFatalStatusCodes": ["INTERNAL"]}
            }
          ],
          "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}
        }
        """
    )
    #expect(config.methodConfigs.count == 2)
    let first = config.methodConfigs[0]
    #expect(first.names.map(\.description) == ["a.B/C", "all methods of d.E"])
    #expect(first.timeout == .milliseconds(1500))
    #expect(first.waitForReady == true)
    #expect(first.maxRequestMessageBytes == 100)
    #expect(first.maxResponseMessageBytes == 200)
    let retry = try RetryPolicy(
      maxAttempts: 4,
      initialBackoff: .milliseconds(100),
      maxBackoff: .seconds(3),
      backoffMultiplier: 2.5,
      retryableStatusCodes: [.unavailable, .aborted, .resourceExhausted]
    )
    #expect(first.repetition == .retry(retry))
    let hedging = try HedgingPolicy(
      maxAttempts: 3,
      hedgingDelay: .milliseconds(500),
      nonFatalStatusCodes: [.internalError]
    )
    #expect(config.methodConfigs[1].repetition == .hedge(hedging))
    #expect(config.retryThrottling == (try RetryThrottling(maxTokens: 10, tokenRatio: 0.1)))
    #expect(
      config.methodConfig(for: MethodDescriptor(service: "x", method: "y", type: .unary))?.repetition
        == .hedge(hedging)
    )
  }

  @Test func emptyConfigsAreValid() throws {
    #expect(try ServiceConfig(json: "{}") == ServiceConfig())
    #expect(try ServiceConfig(json: #"{"methodConfig": [], "retryThrottling": null}"#) == ServiceConfig())
  }

  @Test func escapesAreRead() throws {
    let text = try ConfigValue(json: #""\u00e9\u00E9\uD83D\uDE00\n""#)
    #expect(text == .string("\u{e9}\u{e9}\u{1F600}\n"))
    for wrong in [#"\u00e"#, #"\u+0e9"#, #"\u-000"#, #"\u00g0"#, #"\uD83D"#, #"\uD83D\u0041"#, #"\x"#] {
      #expect(throws: GRPCStatus.self, "\(wrong)") { try ConfigValue(json: "\"\(wrong)\"") }
    }
  }

  /// They are for no method, and gRPC skips them.
  @Test func methodConfigsWithoutNamesAreSkipped() throws {
    let config = try ServiceConfig(
      json: #"""
        {"methodConfig": [{}, {"name": [], "timeout": "1s"}, {"name": [{"service": "a"}], "timeout": "2s"},
          {"name": null, "waitForReady": true}]}
        """#
    )
    func timeout(_ service: String) -> Duration? {
      config.methodConfig(for: MethodDescriptor(service: service, method: "m", type: .unary))?.timeout
    }
    #expect(timeout("a") == .seconds(2) && timeout("b") == nil)
    #expect(
      config.remarks
        == [0, 1, 3].map { "methodConfig[\($0)].name: is missing or empty, so this is for no method" }
    )
  }

  static let named = #""name": [{"service": "a"}]"#
  static let backoffs = #""initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 1"#

  @Test(arguments: [
    ("", "service config"),
    ("[]", "service config"),
    (#"{"methodConfig": {}}"#, "methodConfig: is not an array"),
    (#"{"methodConfig": [5]}"#, "methodConfig[0]: is not an object"),
    (#"{"methodConfig": [{"timeout": "soon"}]}"#, "methodConfig[0].timeout: is not a duration"),
    (#"{"methodConfig": [{"name": [{"method": "m"}]}]}"#, "without its service"),
    (#"{"methodConfig": [{"name": [{"service": 5}]}]}"#, "methodConfig[0].name[0].service: is not a string"),
    (
      #"{"methodConfig": [{"name": [{}, {}]}]}"#,
      "methodConfig[0].name[1]: two method configs are for all methods: this one and methodConfig[0].name[0] (line 1, "
        + "column 33)"
    ),
    (
      "{\n \"methodConfig\": [\n{\"timeout\": 5}]}",
      "methodConfig[0].timeout: is a number: write \"5s\", a duration in seconds (line 3, column 2)"
    ),
    (#"{"methodConfig": [{\#(named), "timeout": "soon"}]}"#, "methodConfig[0].timeout: is not a duration"),
    (#"{"methodConfig": [{\#(named), "timeout": "1s\", 2"}]}"#, "is not a duration"),
    (#"{"methodConfig": [{\#(named), "timeout": "-1s"}]}"#, "timeout: is below zero"),
    (#"{"methodConfig": [{\#(named), "timeout": 1}]}"#, "timeout: is a number"),
    (#"{"methodConfig": [{\#(named), "waitForReady": "yes"}]}"#, "neither true nor false"),
    (#"{"methodConfig": [{\#(named), "maxRequestMessageBytes": 1.5}]}"#, "is not a whole number"),
    (#"{"methodConfig": [{\#(named), "maxRequestMessageBytes": -1}]}"#, "is not a whole number"),
    (#"{"methodConfig": [{\#(named), "maxRequestMessageBytes": 1e300}]}"#, "is not a whole number"),
    (
      #"{"methodConfig": [{\#(named), "retryPolicy": {}, "hedgingPolicy": {}}]}"#,
      "there is a hedgingPolicy too"
    ),
    (#"{"methodConfig": [{\#(named), "retryPolicy": {}}]}"#, "retryPolicy.maxAttempts: is missing"),
    (
      #"{"methodConfig": [{\#(named), "retryPolicy": {"maxAttempts": 2, \#(backoffs)}}]}"#,
      "retryableStatusCodes: is empty"
    ),
    (
      #"{"methodConfig": [{\#(named), "retryPolicy": {"maxAttempts": 2, \#(backoffs), "retryableStatusCodes": ["NO"]}}]}"#,
      "retryPolicy.retryableStatusCodes[0]: is not a status code"
    ),
    (
      #"{"methodConfig": [{\#(named), "retryPolicy": {"maxAttempts": 1, \#(backoffs), "retryableStatusCodes": [14]}}]}"#,
      "retryPolicy.maxAttempts: is 1, below 2"
    ),
    (
      #"{"methodConfig": [{\#(named), "hedgingPolicy": {"maxAttempts": 2, "nonFatalStatusCodes": [17]}}]}"#,
      "nonFatalStatusCodes[0]: is not a status code"
    ),
    (#"{"retryThrottling": {"maxTokens": 5}}"#, "retryThrottling.tokenRatio: is missing"),
    (#"{"retryThrottling": {"maxTokens": 5, "tokenRatio": "much"}}"#, "tokenRatio: is not a number"),
    (#"{"retryThrottling": {"maxTokens": 5000, "tokenRatio": 1}}"#, "retryThrottling.maxTokens: is 5000"),
  ])
  func invalidConfigsAreRejected(_ json: String, _ reason: String) {
    #expect {
      _ = try ServiceConfig(json: json)
    } throws: { error in
      let status = error as? GRPCStatus
      return status?.code == .invalidArgument && status?.message?.contains(reason) == true
    }
  }
}
