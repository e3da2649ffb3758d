import Testing

@testable import SwitchboardCall

/// Calls that are repeated after a failure, as gRFC A6 describes.
@Suite(.timeLimit(.minutes(5))) struct RetryTests {
  @Test func aFailedAttemptIsRetried() async throws {
    let script = ScriptedChannel(try .retrying())
    let call = script.unary([7])
    let first = try await script.transport.next()
    #expect(first.request.previousAttempts == 0)
    first.end(.unavailable)
    #expect(try await script.passNextWait() == .seconds(1))
    let second = try await script.transport.next()
    #expect(second.request.previousAttempts == 1)
    #expect(second.onlyRequest == [7])
    second.answer([8])
    #expect(try await call.response == [8])
    #expect(await call.status.isOk)
  }

  @Test func backoffGrowsUntilTheAttemptsRunOut() async throws {
    let script = ScriptedChannel(try .retrying(5))
    let call = script.unary()
    var waits: [Duration] = []
    for attempt in 1...5 {
      let made = try await script.transport.next()
      made.end(.unavailable, ["attempt": "\(attempt)"])
      if attempt < 5 { waits.append(try await script.passNextWait()) }
    }
    #expect(waits == [.seconds(1), .seconds(2), .seconds(3), .seconds(3)])
    #expect(await call.status.code == .unavailable)
    #expect(try await call.trailingMetadata.first(name: "attempt") == "5")
    #expect(script.time.sleeperCount == 0)
  }

  @Test func jitterIsAFifthEitherWay() throws {
    let policy = try RetryPolicy(
      maxAttempts: 2,
      initialBackoff: .seconds(10),
      maxBackoff: .seconds(100),
      backoffMultiplier: 1,
      retryableStatusCodes: [.unavailable]
    )
    var backoff = RetryBackoff(policy)
    for (random, seconds) in [(0.0, 8), (1.0, 12), (0.5, 10)] {
      let off = backoff.next(random) - .seconds(seconds)
      #expect(off < .nanoseconds(1) && off > .nanoseconds(-1))
    }
  }

  @Test func aHugeMultiplierStopsAtTheMaximumBackoff() throws {
    let policy = try RetryPolicy(
      maxAttempts: 3,
      initialBackoff: .seconds(1),
      maxBackoff: .seconds(9),
      backoffMultiplier: .greatestFiniteMagnitude,
      retryableStatusCodes: [.unavailable]
    )
    var backoff = RetryBackoff(policy)
    #expect(backoff.next(0.5) == .seconds(1))
    #expect(backoff.next(0.5) == .seconds(9))
  }

  @Test func codesThatAreNotRetryableEndTheCall() async throws {
    let script = ScriptedChannel(try .retrying())
    let call = script.unary()
    try await script.transport.next().end(.invalidArgument)
    #expect(await call.status.code == .invalidArgument)
    #expect(script.time.sleeperCount == 0)
  }

  @Test func responseHeadersCommitTheCall() async throws {
    let script = ScriptedChannel(try .retrying())
    let call = script.unary()
    let only = try await script.transport.next()
    only.sendHeaders([":status": "200", "x": "y"])
    only.end(.unavailable)
    #expect(await call.status.code == .unavailable)
    #expect(try await call.initialMetadata.first(name: "x") == "y")
  }

  @Test func pushbackReplacesTheBackoff() async throws {
    let script = ScriptedChannel(try .retrying(4))
    let call = script.unary()
    try await script.transport.next().end(.unavailable)
    #expect(try await script.passNextWait() == .seconds(1))
    try await script.transport.next().end(.unavailable, ["grpc-retry-pushback-ms": "250"])
    #expect(try await script.passNextWait() == .milliseconds(250))
    // The backoff starts again.
    try await script.transport.next().end(.unavailable)
    #expect(try await script.passNextWait() == .seconds(1))
    try await script.transport.next().answer([1])
    #expect(try await call.response == [1])
  }

  @Test(arguments: ["-1", "soon", "", "99999999999"])
  func pushbackPreventsRetries(_ pushback: String) async throws {
    let script = ScriptedChannel(try .retrying())
    let call = script.unary()
    try await script.transport.next().end(.unavailable, ["grpc-retry-pushback-ms": pushback])
    #expect(await call.status.code == .unavailable)
  }

  @Test func theDeadlineSpansAllAttempts() async throws {
    let script = ScriptedChannel(try .retrying(5))
    let call = script.unary(options: CallOptions(timeout: .milliseconds(2500)))
    let first = try await script.transport.next()
    #expect(first.request.deadline?.time == script.time.now + .milliseconds(2500))
    first.end(.unavailable)
    _ = try await script.passNextWait()
    let second = try await script.transport.next()
    #expect(second.request.deadline?.time == script.time.now + .milliseconds(1500))
    second.end(.unavailable)
    // The backoff is two seconds; the deadline comes first.
    #expect(try await script.passNextWait() == .milliseconds(1500))
    #expect(await call.status.code == .deadlineExceeded)
  }

  @Test func aLocalDeadlineIsNotRetried() async throws {
    let script = ScriptedChannel(try .retrying(3, [.deadlineExceeded, .unavailable]))
    let call = script.unary()
    try await script.transport.next().end(.deadlineExceeded, origin: .user)
    #expect(await call.status.code == .deadlineExceeded)
  }

  @Test func cancellingDuringBackoffEndsTheCall() async throws {
    let script = ScriptedChannel(try .retrying())
    let call = script.unary()
    try await script.transport.next().end(.unavailable)
    _ = await script.time.nextWait()
    call.cancel()
    #expect(await call.status.code == .cancelled)
    while !Task.isCancelled, script.time.sleeperCount > 0 { await Task.yield() }
  }

  @Test func cancellingTheCallCancelsItsAttempt() async throws {
    let script = ScriptedChannel(try .retrying())
    let call = script.unary()
    let attempt = try await script.transport.next()
    call.cancel()
    #expect(try await attempt.cancellation().code == .cancelled)
    #expect(await call.status.code == .cancelled)
  }

  @Test func aCallCanDisableRetries() async throws {
    let script = ScriptedChannel(try .retrying())
    var options = CallOptions()
    options.enableRetry = false
    let call = script.unary(options: options)
    try await script.transport.next().end(.unavailable)
    #expect(await call.status.code == .unavailable)
  }

  @Test func aRequestLargerThanTheBufferIsNotRetried() async throws {
    let script = ScriptedChannel(try .retrying(), retryBufferSize: 10)
    let call = script.unary([UInt8](repeating: 0, count: 11))
    try await script.transport.next().end(.unavailable)
    #expect(await call.status.code == .unavailable)
    let small = script.unary([UInt8](repeating: 0, count: 10))
    try await script.transport.next().end(.unavailable)
    _ = try await script.passNextWait()
    try await script.transport.next().answer([1])
    #expect(try await small.response == [1])
  }

  @Test func aCallsBufferLimitOverridesTheChannels() async throws {
    let script = ScriptedChannel(try .retrying(), retryBufferSize: 1000)
    var options = CallOptions()
    options.retryBufferSize = 1
    let call = script.unary([1, 2], options: options)
    try await script.transport.next().end(.unavailable)
    #expect(await call.status.code == .unavailable)
  }

  @Test func aCallsServiceConfigOverridesTheChannels() async throws {
    let script = ScriptedChannel()
    var options = CallOptions()
    options.serviceConfig = try .retrying()
    let call = script.unary(options: options)
    try await script.transport.next().end(.unavailable)
    _ = try await script.passNextWait()
    try await script.transport.next().answer([1])
    #expect(try await call.response == [1])
  }
}
