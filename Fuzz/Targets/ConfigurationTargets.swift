import Switchboard

@testable import SwitchboardCall
@testable import SwitchboardGenerator

/// What people write for channels and for the generator, or have written by others.
enum ConfigurationTargets {
  static func serviceConfig(_ input: [UInt8]) throws {
    let config: ServiceConfig
    do throws(GRPCStatus) {
      config = try ServiceConfig(json: String(decoding: input, as: UTF8.self))
    } catch {
      return try BrokenPromise.unless(error.code == .invalidArgument, "a config is refused with \(error)")
    }
    _ = config.methodConfig(for: MethodDescriptor(service: "f", method: "U", type: .unary))
    for method in config.methodConfigs {
      guard case .retry(let policy) = method.repetition else { continue }
      try check(policy)
    }
    guard let throttle = config.retryThrottling.map(RetryThrottle.init) else { return }
    try BrokenPromise.unless(throttle.allowsRepetition, "calls are not made again from the start")
    throttle.recordFailure()
    throttle.recordSuccess()
  }

  private static func check(_ policy: RetryPolicy) throws {
    var backoff = RetryBackoff(policy)
    for random in [0, 0.5, 1] {
      let wait = backoff.next(random)
      // A fifth more is the jitter; the rest is for what a product is rounded to.
      let isInBounds = wait >= .zero && wait <= policy.maxBackoff * 1.21
      try BrokenPromise.unless(isInBounds, "\(policy) waits \(wait)")
    }
  }

  /// The files of mappings, and the generator's parameter, which is of the same kind.
  static func mappings(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    _ = try read { () throws(GeneratorError) in try ModuleMappings(text: text) }?.module(of: "order.proto")
    _ = try read { () throws(GeneratorError) in try GeneratorOptions(parameter: text) }
    let payloads = try read { () throws(GeneratorError) in try PayloadMappings(text: text) }
    guard let payload = payloads?.payload(of: "f.M", in: "U", of: "f.S") else { return }
    // What is written into a source must not bring lines of its own.
    let code = [payload.swiftType ?? "", payload.marshaller(for: "F_M")] + payload.modules
    let isOneLine = code.allSatisfy { !$0.contains(where: \.isNewline) }
    try BrokenPromise.unless(isOneLine, "a mapping writes lines of its own: \(code)")
  }

  /// What is read, or nothing where it cannot be and the error says why.
  private static func read<Value>(_ body: () throws(GeneratorError) -> Value) throws(BrokenPromise) -> Value?
  {
    do {
      return try body()
    } catch {
      try BrokenPromise.unless(!error.description.isEmpty, "an error says nothing")
      return nil
    }
  }
}
