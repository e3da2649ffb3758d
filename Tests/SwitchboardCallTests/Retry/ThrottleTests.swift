import SwitchboardCallObjects
import Testing

@testable import SwitchboardCall

/// The tokens that prevent retries while a server fails.
@Suite(.timeLimit(.minutes(5))) struct ThrottleTests {
  @Test func failuresRemoveTokensAndSuccessesAddThem() throws {
    let throttle = RetryThrottle(try RetryThrottling(maxTokens: 4, tokenRatio: 0.5))
    #expect(throttle.allowsRepetition)
    throttle.recordFailure()
    #expect(throttle.allowsRepetition)
    throttle.recordFailure()
    #expect(!throttle.allowsRepetition)
    throttle.recordSuccess()
    #expect(throttle.allowsRepetition)
    for _ in 0..<10 { throttle.recordFailure() }
    for _ in 0..<4 { throttle.recordSuccess() }
    #expect(!throttle.allowsRepetition)
    throttle.recordSuccess()
    #expect(throttle.allowsRepetition)
    for _ in 0..<100 { throttle.recordSuccess() }
    for _ in 0..<2 { throttle.recordFailure() }
    #expect(!throttle.allowsRepetition)
  }

  @Test func callsOfAChannelShareTheirTokens() async throws {
    let policy = try ServiceConfig.retrying().methodConfigs[0].repetition
    let config = try ServiceConfig.forAll(
      policy,
      throttling: try RetryThrottling(maxTokens: 4, tokenRatio: 0.1)
    )
    let script = ScriptedChannel(config)
    let first = script.unary()
    try await script.transport.next().end(.unavailable)
    _ = try await script.passNextWait()
    // Two tokens, half of all, are gone.
    try await script.transport.next().end(.unavailable)
    #expect(await first.status.code == .unavailable)
    let second = script.unary()
    try await script.transport.next().end(.unavailable)
    #expect(await second.status.code == .unavailable)
    #expect(script.time.sleeperCount == 0)
  }

  @Test func redirectedCallsUseTheTokensOfTheirHost() async throws {
    let policy = try ServiceConfig.retrying().methodConfigs[0].repetition
    let throttling = try RetryThrottling(maxTokens: 3, tokenRatio: 0.1)
    let script = ScriptedChannel(try ServiceConfig.forAll(policy, throttling: throttling))
    func call(to host: String) -> AsyncUnaryCall<[UInt8]> {
      let bytes = BytesMarshaller()
      let method = Method(ScriptedChannel.unaryMethod, requests: bytes, responses: bytes)
      let chain = CallInterceptors<[UInt8], [UInt8]>([Redirector(host)])
      return MethodCall(method, on: script.channel, interceptors: chain).makeUnaryCall([1])
    }
    let first = call(to: "there")
    try await script.transport.next().end(.unavailable)
    _ = try await script.passNextWait()
    try await script.transport.next().end(.unavailable)
    #expect(await first.status.code == .unavailable)
    // One of three tokens is left for this host. Other hosts have all of theirs.
    let second = call(to: "there")
    try await script.transport.next().end(.unavailable)
    #expect(await second.status.code == .unavailable)
    let third = call(to: "elsewhere")
    try await script.transport.next().end(.unavailable)
    _ = try await script.passNextWait()
    try await script.transport.next().answer([2])
    #expect(await third.status.isOk)
  }

  @Test func hedgingIsThrottled() async throws {
    let policy = try ServiceConfig.hedging().methodConfigs[0].repetition
    let throttling = try RetryThrottling(maxTokens: 2, tokenRatio: 0.1)
    let script = ScriptedChannel(try ServiceConfig.forAll(policy, throttling: throttling))
    let call = script.unary()
    try await script.transport.next().end(.unavailable)
    #expect(await call.status.code == .unavailable)
  }

  @Test func codesThatAreNotRetryableRemoveNoTokens() async throws {
    let policy = try ServiceConfig.retrying().methodConfigs[0].repetition
    let throttling = try RetryThrottling(maxTokens: 2, tokenRatio: 0.1)
    let script = ScriptedChannel(try ServiceConfig.forAll(policy, throttling: throttling))
    for _ in 0..<5 {
      let call = script.unary()
      try await script.transport.next().end(.notFound)
      #expect(await call.status.code == .notFound)
    }
    // The first retryable failure removes one of two tokens, which leaves half.
    let call = script.unary()
    try await script.transport.next().end(.unavailable)
    #expect(await call.status.code == .unavailable)
  }
}

private final class Redirector: ClientInterceptor<[UInt8], [UInt8]> {
  private let host: String

  init(_ host: String) { self.host = host }

  override func send(
    _ part: GRPCClientRequestPart<[UInt8]>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<[UInt8], [UInt8]>
  ) {
    if case .metadata = part { context.host = host }
    context.send(part, promise: promise)
  }
}
