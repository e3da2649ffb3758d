import SwitchboardCall
import Testing

/// Calls that are made several times in parallel.
@Suite(.timeLimit(.minutes(5))) struct HedgingTests {
  @Test func theFirstAnswerWins() async throws {
    let script = ScriptedChannel(try .hedging())
    let call = script.unary()
    let first = try await script.transport.next()
    #expect(try await script.passNextWait() == .seconds(1))
    let second = try await script.transport.next()
    #expect(second.request.previousAttempts == 1)
    #expect(try await script.passNextWait() == .seconds(1))
    let third = try await script.transport.next()
    second.answer([2])
    #expect(try await call.response == [2])
    #expect(try await first.cancellation().code == .cancelled)
    #expect(try await third.cancellation().code == .cancelled)
  }

  @Test func withoutADelayAllAttemptsStartAtOnce() async throws {
    let script = ScriptedChannel(try .hedging(4, delay: .zero))
    let call = script.unary()
    var attempts: [ScriptedCall] = []
    for _ in 0..<4 { attempts.append(try await script.transport.next()) }
    attempts[3].answer([4])
    #expect(try await call.response == [4])
    for attempt in attempts.dropLast() { #expect(try await attempt.cancellation().code == .cancelled) }
  }

  @Test func aNonFatalFailureStartsTheNextAttemptAtOnce() async throws {
    let script = ScriptedChannel(try .hedging())
    let call = script.unary()
    let first = try await script.transport.next()
    #expect(await script.time.nextWait() == .seconds(1))
    first.end(.unavailable)
    let second = try await script.transport.next()
    second.answer([2])
    #expect(try await call.response == [2])
  }

  @Test func aFatalFailureEndsTheCall() async throws {
    let script = ScriptedChannel(try .hedging())
    let call = script.unary()
    let first = try await script.transport.next()
    _ = try await script.passNextWait()
    let second = try await script.transport.next()
    second.end(.invalidArgument)
    #expect(await call.status.code == .invalidArgument)
    #expect(try await first.cancellation().code == .cancelled)
  }

  @Test func whenAllAttemptsFailTheCallHasTheLastStatus() async throws {
    let script = ScriptedChannel(try .hedging(2))
    let call = script.unary()
    let first = try await script.transport.next()
    first.end(.unavailable, ["which": "first"])
    let second = try await script.transport.next()
    second.end(.unavailable, ["which": "second"])
    #expect(await call.status.code == .unavailable)
    #expect(try await call.trailingMetadata.first(name: "which") == "second")
  }

  @Test func pushbackDelaysTheNextHedge() async throws {
    let script = ScriptedChannel(try .hedging())
    let call = script.unary()
    let first = try await script.transport.next()
    #expect(await script.time.nextWait() == .seconds(1))
    first.end(.unavailable, ["grpc-retry-pushback-ms": "4000"])
    #expect(try await script.passNextWait() == .seconds(4))
    try await script.transport.next().answer([2])
    #expect(try await call.response == [2])
  }

  @Test func pushbackStopsHedging() async throws {
    let script = ScriptedChannel(try .hedging())
    let call = script.unary()
    let first = try await script.transport.next()
    _ = try await script.passNextWait()
    let second = try await script.transport.next()
    first.end(.unavailable, ["grpc-retry-pushback-ms": "-1"])
    second.answer([2])
    #expect(try await call.response == [2])
  }

  @Test func cancellingTheCallCancelsAllAttempts() async throws {
    let script = ScriptedChannel(try .hedging(3, delay: .zero))
    let call = script.unary()
    var attempts: [ScriptedCall] = []
    for _ in 0..<3 { attempts.append(try await script.transport.next()) }
    call.cancel()
    for attempt in attempts { #expect(try await attempt.cancellation().code == .cancelled) }
    #expect(await call.status.code == .cancelled)
  }

  @Test func theDeadlineEndsAllAttempts() async throws {
    let script = ScriptedChannel(try .hedging(2, delay: .seconds(1)))
    let call = script.unary(options: CallOptions(timeout: .seconds(3)))
    let first = try await script.transport.next()
    _ = try await script.passNextWait()
    let second = try await script.transport.next()
    #expect(first.request.deadline?.time == script.time.now + .seconds(2))
    #expect(second.request.deadline?.time == first.request.deadline?.time)
    first.end(.deadlineExceeded, origin: .user)
    #expect(await call.status.code == .deadlineExceeded)
    #expect(try await second.cancellation().code == .cancelled)
  }

  @Test func streamingCallsAreHedged() async throws {
    let script = ScriptedChannel(try .hedging(2, delay: .zero))
    let call = script.update()
    let first = try await script.transport.next()
    let second = try await script.transport.next()
    try await call.requestStream.send([1])
    #expect(try await first.nextRequest() == [1])
    #expect(try await second.nextRequest() == [1])
    second.sendHeaders()
    second.send([2])
    #expect(try await first.cancellation().code == .cancelled)
    try await call.requestStream.send([3])
    call.requestStream.finish()
    #expect(try await second.nextRequest() == [3])
    #expect(try await second.nextRequest() == nil)
    second.send([4])
    second.end(.aborted, ["t": "r"])
    var responses = call.responseStream.makeAsyncIterator()
    #expect(try await responses.next() == [2])
    #expect(try await responses.next() == [4])
    await #expect(throws: GRPCStatus.self) { _ = try await responses.next() }
    #expect(try await call.trailingMetadata.first(name: "t") == "r")
  }

  @Test func cancellingEndsAHedgedStream() async throws {
    let script = ScriptedChannel(try .hedging(2, delay: .zero))
    let call = script.update()
    let first = try await script.transport.next()
    _ = try await script.transport.next()
    first.sendHeaders()
    // More than the caller's side holds, so forwarding waits for room.
    for _ in 0..<100 { first.send([UInt8](repeating: 0, count: 64 * 1024)) }
    _ = try await call.initialMetadata
    call.cancel()
    #expect(await call.status.code == .cancelled)
  }
}
