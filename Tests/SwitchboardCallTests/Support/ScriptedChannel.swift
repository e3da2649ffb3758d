import CallTestSupport
import SwitchboardCall
import SwitchboardCallObjects

/// A channel over a scripted transport. The test advances its clock, and jitter always has its mean value.
struct ScriptedChannel {
  let transport = ScriptedTransport()
  let time = ManualTime()
  let channel: Channel

  init(_ config: ServiceConfig? = nil, retryBufferSize: Int? = nil, logger: Logger = .quiet) {
    var environment = CallEnvironment()
    environment.time = time
    environment.random = { 0.5 }
    channel = Channel(
      transport,
      serviceConfig: config,
      retryBufferSize: retryBufferSize,
      environment: environment,
      logger: logger
    )
  }

  static let unaryMethod = MethodDescriptor(service: "test.Test", method: "Get", type: .unary)
  static let updateMethod = MethodDescriptor(
    service: "test.Test",
    method: "Update",
    type: .bidirectionalStreaming
  )

  func unary(_ request: [UInt8] = [1], options: CallOptions? = nil) -> AsyncUnaryCall<[UInt8]> {
    channel.call(Self.unaryMethod, options: options).makeUnaryCall(request)
  }

  func update(options: CallOptions? = nil) -> AsyncBidirectionalStreamingCall<[UInt8], [UInt8]> {
    channel.call(Self.updateMethod, options: options).makeBidirectionalStreamingCall()
  }

  /// Advances the clock until the next waiting task resumes. Returns by how much.
  func passNextWait() async throws -> Duration {
    guard let wait = await time.nextWait() else { throw CancellationError() }
    time.advance(by: wait)
    return wait
  }
}

extension ServiceConfig {
  /// A config for all methods.
  static func forAll(
    _ repetition: MethodConfig.Repetition? = nil,
    throttling: RetryThrottling? = nil,
    _ change: (inout MethodConfig) -> Void = { _ in }
  ) throws -> ServiceConfig {
    var config = MethodConfig(names: [try MethodConfig.Name()], repetition: repetition)
    change(&config)
    return try ServiceConfig(methodConfigs: [config], retryThrottling: throttling)
  }

  static func retrying(_ attempts: Int = 3, _ codes: Set<GRPCStatus.Code> = [.unavailable]) throws
    -> ServiceConfig
  {
    try forAll(
      .retry(
        try RetryPolicy(
          maxAttempts: attempts,
          initialBackoff: .seconds(1),
          maxBackoff: .seconds(3),
          backoffMultiplier: 2,
          retryableStatusCodes: codes
        )
      )
    )
  }

  static func hedging(
    _ attempts: Int = 3,
    delay: Duration = .seconds(1),
    _ codes: Set<GRPCStatus.Code> = [.unavailable]
  ) throws -> ServiceConfig {
    try forAll(
      .hedge(try HedgingPolicy(maxAttempts: attempts, hedgingDelay: delay, nonFatalStatusCodes: codes))
    )
  }
}
