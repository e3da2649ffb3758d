import CallTestSupport
import SwitchboardCall
import Testing

/// The numbers of service configs at -1, 0, 1 and their maximum: they are refused with an error that names them, or hold.
@Suite struct OptionRuleTests {
  private static let forever = Duration.seconds(Int64.max)

  private func isRefused(_ name: String, _ make: () throws(GRPCStatus) -> Void) -> Bool {
    do throws(GRPCStatus) {
      try make()
      return false
    } catch {
      #expect(error.code == .invalidArgument)
      #expect(error.message?.contains("\(name): is ") == true)
      return true
    }
  }

  @Test func aRuleSaysWhatIsAllowed() {
    struct Options: RuledOptions {
      var count: Int? = 5
      static let rules: [OptionRule<Options>] = [
        OptionRule(\.count, "count", .within(1...7), because: "a week has seven days")
      ]
    }
    let message = "count is 8: it must be from 1 to 7, or nil, because a week has seven days"
    let error = #expect(throws: GRPCStatus.self) { try Options(count: 8).checkRules() }
    #expect(error == GRPCStatus(code: .invalidArgument, message: message))
    for count in [1, 7, nil] { #expect(throws: Never.self) { try Options(count: count).checkRules() } }
  }

  @Test func numbersOfMethodConfigs() throws {
    let name = try MethodConfig.Name()
    let standard = MethodConfig(names: [name])
    #expect(OptionWalk.ruled(MethodConfig.self) == OptionWalk.numbers(in: standard))
    for sample in OptionWalk.samples(of: standard) {
      let isNegative = sample.value.hasPrefix("-")
      let error = Result { () throws(GRPCStatus) in try ServiceConfig(methodConfigs: [sample.options]) }
      switch error {
      case .success: #expect(!isNegative)
      case .failure(let error): #expect(isNegative && sample.isRefused(by: error))
      }
    }
  }

  private func retryPolicy(
    _ attempts: Int = 2,
    _ initial: Duration = .seconds(1),
    _ longest: Duration = .seconds(1),
    _ factor: Double = 2
  ) throws(GRPCStatus) -> RetryPolicy {
    try RetryPolicy(
      maxAttempts: attempts,
      initialBackoff: initial,
      maxBackoff: longest,
      backoffMultiplier: factor,
      retryableStatusCodes: [.unavailable]
    )
  }

  @Test func numbersOfRetryPolicies() throws {
    let numbers = OptionWalk.numbers(in: try retryPolicy())
    #expect(numbers == ["maxAttempts", "initialBackoff", "maxBackoff", "backoffMultiplier"])
    for count in [-1, 0, 1, 2, .max] {
      let isRefused = isRefused("maxAttempts") { () throws(GRPCStatus) in _ = try retryPolicy(count) }
      #expect(isRefused == (count < 2))
    }
    for time in [Duration.seconds(-1), .zero, .seconds(1), Self.forever] {
      let first = isRefused("initialBackoff") { () throws(GRPCStatus) in _ = try retryPolicy(2, time) }
      let last = isRefused("maxBackoff") { () throws(GRPCStatus) in _ = try retryPolicy(2, .seconds(1), time)
      }
      #expect(first == (time <= .zero) && last == first)
    }
    for factor in [-1, 0, 1, .greatestFiniteMagnitude, .infinity, .nan] {
      let isRefused = isRefused("backoffMultiplier") { () throws(GRPCStatus) in
        _ = try retryPolicy(2, .seconds(1), .seconds(1), factor)
      }
      #expect(isRefused == !(factor > 0 && factor.isFinite))
    }
  }

  @Test func numbersOfHedgingPolicies() throws {
    #expect(OptionWalk.numbers(in: try HedgingPolicy(maxAttempts: 2)) == ["maxAttempts", "hedgingDelay"])
    for count in [-1, 0, 1, 2, .max] {
      let isRefused = isRefused("maxAttempts") { () throws(GRPCStatus) in
        _ = try HedgingPolicy(maxAttempts: count)
      }
      #expect(isRefused == (count < 2))
    }
    for time in [Duration.seconds(-1), .zero, .seconds(1), Self.forever] {
      let isRefused = isRefused("hedgingDelay") { () throws(GRPCStatus) in
        _ = try HedgingPolicy(maxAttempts: 2, hedgingDelay: time)
      }
      #expect(isRefused == (time < .zero))
    }
  }

  @Test func numbersOfRetryThrottling() throws {
    let numbers = OptionWalk.numbers(in: try RetryThrottling(maxTokens: 1, tokenRatio: 1))
    #expect(numbers == ["maxTokens", "tokenRatio"])
    for count in [-1, 0, 1, .max] {
      let isRefused = isRefused("maxTokens") { () throws(GRPCStatus) in
        _ = try RetryThrottling(maxTokens: count, tokenRatio: 1)
      }
      #expect(isRefused == (count != 1))
    }
    for ratio in [-1, 0, 1, .greatestFiniteMagnitude, .infinity, .nan] {
      let isRefused = isRefused("tokenRatio") { () throws(GRPCStatus) in
        _ = try RetryThrottling(maxTokens: 1, tokenRatio: ratio)
      }
      #expect(isRefused == !(ratio > 0 && ratio.isFinite))
    }
  }
}
