import SwitchboardCall
import Testing

@Suite struct ServiceConfigTests {
  private func config(_ service: String, _ method: String, _ timeout: Int) throws -> MethodConfig {
    MethodConfig(
      names: [try MethodConfig.Name(service: service, method: method)],
      timeout: .seconds(timeout)
    )
  }

  @Test func theMostSpecificNameApplies() throws {
    let config = try ServiceConfig(methodConfigs: [
      try config("", "", 1), try config("a.B", "", 2), try config("a.B", "C", 3),
    ])
    func timeout(_ service: String, _ method: String) -> Duration? {
      config.methodConfig(for: MethodDescriptor(service: service, method: method, type: .unary))?.timeout
    }
    #expect(timeout("a.B", "C") == .seconds(3))
    #expect(timeout("a.B", "D") == .seconds(2))
    #expect(timeout("a.X", "C") == .seconds(1))
    #expect(
      try ServiceConfig().methodConfig(for: MethodDescriptor(service: "a", method: "b", type: .unary)) == nil
    )
  }

  @Test func invalidConfigsAreRejected() throws {
    func expectRefusal(_ reason: String, _ make: () throws -> Void) {
      #expect {
        try make()
      } throws: { error in
        let status = error as? GRPCStatus
        return status?.code == .invalidArgument && status?.message?.contains(reason) == true
      }
    }
    func retry(
      _ attempts: Int = 2,
      _ initial: Duration = .seconds(1),
      _ maximum: Duration = .seconds(1),
      _ multiplier: Double = 1,
      _ codes: Set<GRPCStatus.Code> = [.unavailable]
    ) throws {
      _ = try RetryPolicy(
        maxAttempts: attempts,
        initialBackoff: initial,
        maxBackoff: maximum,
        backoffMultiplier: multiplier,
        retryableStatusCodes: codes
      )
    }
    expectRefusal("a.B/C") {
      _ = try ServiceConfig(methodConfigs: [try config("a.B", "C", 1), try config("a.B", "C", 2)])
    }
    expectRefusal("without its service") { _ = try MethodConfig.Name(method: "C") }
    expectRefusal("maxAttempts") { try retry(1) }
    expectRefusal("initialBackoff") { try retry(2, .zero) }
    expectRefusal("maxBackoff") { try retry(2, .seconds(1), .zero) }
    expectRefusal("backoffMultiplier") { try retry(2, .seconds(1), .seconds(1), 0) }
    expectRefusal("backoffMultiplier") { try retry(2, .seconds(1), .seconds(1), .infinity) }
    expectRefusal("is empty") { try retry(2, .seconds(1), .seconds(1), 1, []) }
    expectRefusal("contains OK") { try retry(2, .seconds(1), .seconds(1), 1, [.ok]) }
    expectRefusal("maxAttempts") { _ = try HedgingPolicy(maxAttempts: 0) }
    expectRefusal("hedgingDelay") { _ = try HedgingPolicy(maxAttempts: 2, hedgingDelay: .seconds(-1)) }
    expectRefusal("maxTokens") { _ = try RetryThrottling(maxTokens: 0, tokenRatio: 1) }
    expectRefusal("maxTokens") { _ = try RetryThrottling(maxTokens: 1001, tokenRatio: 1) }
    expectRefusal("tokenRatio") { _ = try RetryThrottling(maxTokens: 1, tokenRatio: 0) }
  }

  @Test func attemptsAreLimitedToFive() throws {
    #expect(try HedgingPolicy(maxAttempts: 100).attempts == 5)
  }

  @Test func whatHasNoEffectIsRemarked() throws {
    let hedging = MethodConfig.Repetition.hedge(try HedgingPolicy(maxAttempts: 6))
    let slash = try MethodConfig.Name(service: "a.B/C")
    let config = try ServiceConfig(methodConfigs: [
      try config("a.B", "C", 1), MethodConfig(names: []),
      MethodConfig(names: [slash], timeout: .zero, repetition: hedging),
    ])
    #expect(
      config.remarks == [
        "methodConfig[1].name: is missing or empty, so this is for no method",
        "methodConfig[2].timeout: is zero: calls of these methods would fail at once",
        "methodConfig[2].hedgingPolicy.maxAttempts: is 6: no more than 5 attempts are made",
        "methodConfig[2].name[0].service: has a slash, so it names nothing: 'service' and 'method' are two members",
      ]
    )
    let many = try ServiceConfig(methodConfigs: Array(repeating: MethodConfig(names: []), count: 1000))
    #expect(many.remarks.count == 8)
  }

  /// The value, from which the text is made.
  @Test func aMistakeHasItsPathAndItsReason() throws {
    let status = #expect(throws: GRPCStatus.self) { try HedgingPolicy(maxAttempts: 1) }
    #expect(status?.configMistake == ConfigFinding(path: "maxAttempts", reason: "is 1, below 2"))
    #expect(status?.message == "service config: maxAttempts: is 1, below 2")
  }

  @Test(.timeLimit(.minutes(5))) func theConfigurationReachesTheTransport() async throws {
    let script = ScriptedChannel(
      try .forAll {
        $0.timeout = .seconds(5)
        $0.waitForReady = true
        $0.maxResponseMessageBytes = 100
      }
    )
    func request(_ own: CallOptions?) async throws -> CallRequest {
      let call = script.unary(options: own)
      let made = try await script.transport.next()
      made.answer([1])
      _ = try await call.response
      return made.request
    }
    let configured = try await request(nil)
    #expect(configured.deadline?.time == script.time.now + .seconds(5))
    #expect(configured.options?.waitForReady == true)
    #expect(configured.options?.responseSizeLimit == 100)
    var own = CallOptions(timeout: .seconds(2), responseSizeLimit: 50)
    own.waitForReady = false
    let lower = try await request(own)
    #expect(lower.deadline?.time == script.time.now + .seconds(2))
    #expect(lower.options?.waitForReady == false)
    #expect(lower.options?.responseSizeLimit == 50)
    let higher = try await request(CallOptions(timeout: .seconds(20), responseSizeLimit: 500))
    #expect(higher.deadline?.time == script.time.now + .seconds(5))
    #expect(higher.options?.responseSizeLimit == 100)
  }
}
