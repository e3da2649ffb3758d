import Switchboard

@testable import SwitchboardCall
@testable import SwitchboardGenerator

/// Configurations for channels and the generator, whose source may be untrusted.
enum ConfigurationTargets {
  static func serviceConfig(_ input: [UInt8]) throws {
    let config: ServiceConfig
    do throws(GRPCStatus) {
      config = try ServiceConfig(json: String(decoding: input, as: UTF8.self))
    } catch {
      return try BrokenPromise.unless(error.code == .invalidArgument, "a config is rejected with \(error)")
    }
    _ = config.methodConfig(for: MethodDescriptor(service: "f", method: "U", type: .unary))
    for method in config.methodConfigs {
      guard case .retry(let policy) = method.repetition else { continue }
      try check(policy)
    }
    guard let throttle = config.retryThrottling.map(RetryThrottle.init) else { return }
    try BrokenPromise.unless(throttle.allowsRepetition, "retries are throttled from the start")
    throttle.recordFailure()
    throttle.recordSuccess()
  }

  private static func check(_ policy: RetryPolicy) throws {
    var backoff = RetryBackoff(policy)
    for random in [0, 0.5, 1] {
      let wait = backoff.next(random)
      // The jitter adds up to a fifth; the rest covers rounding.
      let isInBounds = wait >= .zero && wait <= policy.maxBackoff * 1.21
      try BrokenPromise.unless(isInBounds, "\(policy) waits \(wait)")
    }
  }

  /// Mapping files and the generator's parameter, which has a similar format.
  static func mappings(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    _ = try read { () throws(GeneratorError) in try ModuleMappings(text: text) }?.module(of: "order.proto")
    _ = try read { () throws(GeneratorError) in try GeneratorOptions(parameter: text) }
    let payloads = try read { () throws(GeneratorError) in try PayloadMappings(text: text) }
    guard let payload = payloads?.payload(of: "f.M", in: "U", of: "f.S") else { return }
    // Text that is inserted into source code must not contain line breaks.
    let code = [payload.swiftType ?? "", payload.marshaller(for: "F_M")] + payload.modules
    let isOneLine = code.allSatisfy { !$0.contains(where: \.isNewline) }
    try BrokenPromise.unless(isOneLine, "a mapping contains a line break: \(code)")
  }

  /// Parses the input; returns nil if it is invalid, provided that the error says why.
  private static func read<Value>(_ body: () throws(GeneratorError) -> Value) throws(BrokenPromise) -> Value?
  {
    do {
      return try body()
    } catch {
      try BrokenPromise.unless(!error.description.isEmpty, "an error has no description")
      return nil
    }
  }
}
