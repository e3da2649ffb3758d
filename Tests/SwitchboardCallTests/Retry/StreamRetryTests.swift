import Testing

@testable import SwitchboardCall

/// Retries of calls that stream.
@Suite(.timeLimit(.minutes(5))) struct StreamRetryTests {
  @Test func aRetryResendsAllRequests() async throws {
    let script = ScriptedChannel(try .retrying())
    let call = script.update()
    let first = try await script.transport.next()
    try await call.requestStream.send([1])
    try await call.requestStream.send([2])
    #expect(try await first.nextRequest() == [1])
    first.end(.unavailable)
    _ = try await script.passNextWait()
    let second = try await script.transport.next()
    try await call.requestStream.send([3])
    call.requestStream.finish()
    var requests: [[UInt8]] = []
    while let request = try await second.nextRequest() { requests.append(request) }
    #expect(requests == [[1], [2], [3]])
    second.sendHeaders()
    second.send([9])
    second.send([8])
    second.end()
    var responses = call.responseStream.makeAsyncIterator()
    #expect(try await responses.next() == [9])
    #expect(try await responses.next() == [8])
    #expect(try await responses.next() == nil)
  }

  @Test func requestsWrittenDuringBackoffAreSent() async throws {
    let script = ScriptedChannel(try .retrying())
    let call = script.update()
    try await script.transport.next().end(.unavailable)
    let wait = await script.time.nextWait()
    try await call.requestStream.send([1])
    call.requestStream.finish()
    script.time.advance(by: try #require(wait))
    let second = try await script.transport.next()
    #expect(try await second.nextRequest() == [1])
    #expect(try await second.nextRequest() == nil)
    second.sendHeaders()
    second.end()
    #expect(await call.status.isOk)
  }

  @Test func exceedingTheBufferCommitsTheCall() async throws {
    let script = ScriptedChannel(try .retrying(), retryBufferSize: 100)
    let call = script.update()
    let only = try await script.transport.next()
    for _ in 0..<3 { try await call.requestStream.send([UInt8](repeating: 1, count: 50)) }
    for _ in 0..<3 { #expect(try await only.nextRequest()?.count == 50) }
    only.end(.unavailable)
    #expect(await call.status.code == .unavailable)
  }

  @Test func aCommittedCallKeepsStreaming() async throws {
    let script = ScriptedChannel(try .retrying(), retryBufferSize: 1000)
    let call = script.update()
    let only = try await script.transport.next()
    only.sendHeaders()
    let count = 2000
    let writer = Task {
      for index in 0..<count {
        try await call.requestStream.send([UInt8](repeating: UInt8(index % 256), count: 1000))
      }
      call.requestStream.finish()
    }
    for index in 0..<count { #expect(try await only.nextRequest()?.first == UInt8(index % 256)) }
    #expect(try await only.nextRequest() == nil)
    try await writer.value
    only.end()
    #expect(await call.status.isOk)
  }

  @Test func aSlowTransportMakesTheWriterWait() async throws {
    let script = ScriptedChannel(try .retrying(), retryBufferSize: 100 * 1024 * 1024)
    let call = script.update()
    let only = try await script.transport.next()
    let written = Locked(0)
    let writer = Task {
      for _ in 0..<100 {
        try await call.requestStream.send([UInt8](repeating: 0, count: 64 * 1024))
        written.withLock { $0 += 1 }
      }
    }
    // Nothing is read. The pipes on both sides of the retries take one message more than their limits.
    for _ in 0..<2000 { await Task.yield() }
    let most = 2 * (256 / 64) + 2
    #expect(written.withLock { $0 } <= most)
    for _ in 0..<100 { #expect(try await only.nextRequest()?.count == 64 * 1024) }
    try await writer.value
    call.cancel()
    #expect(await call.status.code == .cancelled)
  }

  @Test func writingFailsAfterTheCallEnds() async throws {
    let script = ScriptedChannel(try .retrying())
    let call = script.update()
    try await script.transport.next().end(.notFound)
    #expect(await call.status.code == .notFound)
    await #expect(throws: GRPCStatus.self) {
      for _ in 0..<10 { try await call.requestStream.send([1]) }
    }
  }

  @Test func abortedRequestsDoNotLookComplete() async throws {
    let script = ScriptedChannel(try .retrying())
    let method = MethodDescriptor(service: "test.Test", method: "Collect", type: .clientStreaming)
    let (requests, answer) = (MessagePipe(limit: 100), ResponseHandover<[UInt8]>())
    let request = CallRequest(method: method, options: nil, body: .stream(requests))
    let call = script.channel.engine.makeCall(
      request,
      receiver: CallReceiver(nil, answer, BytesMarshaller())
    )
    call.start()
    let response = Task { try await answer.value(of: call) }
    let attempt = try await script.transport.next()
    requests.push(MessageBuffer([1]))
    #expect(try await attempt.nextRequest() == [1])
    requests.abort(GRPCStatus(code: .aborted))
    #expect(try await attempt.cancellation().code == .aborted)
    await #expect(throws: GRPCStatus(code: .aborted)) { _ = try await response.value }
  }

  @Test func requestsAboveTheSizeLimitFail() async throws {
    let script = ScriptedChannel(try .forAll { $0.maxRequestMessageBytes = 2 })
    let unary = script.unary([1, 2, 3])
    #expect(await unary.status.code == .resourceExhausted)
    let call = script.update()
    let attempt = try await script.transport.next()
    try await call.requestStream.send([1, 2])
    #expect(try await attempt.nextRequest() == [1, 2])
    try? await call.requestStream.send([1, 2, 3])
    #expect(await call.status.code == .resourceExhausted)
    #expect(try await attempt.cancellation().code == .resourceExhausted)
  }

  /// The transport ends the call as if its loop had ended.
  @Test func aCallThatEndsDuringItsStartReleasesItsRequests() async throws {
    let transport = ClosingTransport()
    let pipe = MessagePipe(limit: 1)
    let request = CallRequest(method: ScriptedChannel.updateMethod, options: nil, body: .stream(pipe))
    let (receiver, plan) = (EndReceiver(), RepetitionPlan(bufferLimit: 1))
    let engine = CallEngine(transport, nil, retryBufferSize: nil, enablesRetry: true, CallEnvironment())
    RetryingCall(request, receiver, engine, plan).start()
    #expect(try await receiver.end.value().code == .unavailable)
    await withCheckedContinuation { continuation in
      transport.loop.execute { continuation.resume() }
    }
    #expect(pipe.queue.state.withLock { $0.extra.observer == nil })
  }
}

/// A transport whose calls end during `start`.
private final class ClosingTransport: ByteTransport {
  let loop = TestLoop()
  let host = "nowhere"

  private final class ClosingCall: ByteCall {
    private let receiver: any ResponseReceiver

    init(_ receiver: any ResponseReceiver) { self.receiver = receiver }

    func poll(until isReady: () -> Bool) {}
    func start() { receiver.close(GRPCStatus(code: .unavailable), trailers: HPACKHeaders()) }
    func cancel(_ status: GRPCStatus) {}
  }

  var eventLoop: any EventLoop { loop }
  var streamBufferSize: Int { 256 * 1024 }
  var resolvedConfig: ResolvedConfig? { nil }

  func connect() {}

  func makeCall(_ request: CallRequest, receiver: any ResponseReceiver) -> any ByteCall {
    ClosingCall(receiver)
  }

  func retire() {}
  func shutDown(grace: Duration) async {}
}

private final class EndReceiver: ResponseReceiver {
  let end = OneShot<GRPCStatus>()

  var wantsMetadata: Bool { false }
  var wantsSent: Bool { false }
  func sent(_ part: SentPart) {}
  func responseWasCompressed() {}

  func receive(headers: HPACKHeaders) {}
  func decoder(for message: RawSpan) -> ResponseDecoder? { nil }
  func receive(message: RawSpan) {}
  func close(_ status: GRPCStatus, trailers: HPACKHeaders) { end.settle(.success(status)) }
}
