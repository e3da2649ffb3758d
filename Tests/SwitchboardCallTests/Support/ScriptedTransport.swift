import SwitchboardCall

/// A transport whose responses are scripted by a test.
final class ScriptedTransport: ByteTransport {
  let loop: TestLoop
  let host: String
  private let started: AsyncStream<ScriptedCall>
  private let announce: AsyncStream<ScriptedCall>.Continuation

  init() {
    loop = TestLoop()
    host = "here"
    (started, announce) = AsyncStream<ScriptedCall>.makeStream()
  }

  private init(_ host: String, like other: ScriptedTransport) {
    loop = other.loop
    self.host = host
    (started, announce) = (other.started, other.announce)
  }

  /// Returns a transport whose calls `next` also returns.
  func sibling(for host: String) -> any ByteTransport { ScriptedTransport(host, like: self) }

  var eventLoop: any EventLoop { loop }
  var streamBufferSize: Int { 256 * 1024 }
  var resolvedConfig: ResolvedConfig? { nil }

  func connect() {}

  func makeCall(_ request: CallRequest, receiver: any ResponseReceiver) -> any ByteCall {
    ScriptedCall(request, receiver, loop) { [announce] in announce.yield($0) }
  }

  func retire() {}

  func shutDown(grace: Duration) async {}

  /// Waits for the next call that reaches the transport.
  func next() async throws -> ScriptedCall {
    for await call in started { return call }
    throw CancellationError()
  }
}

/// One call that has reached the transport.
final class ScriptedCall: ByteCall {
  let request: CallRequest
  private let receiver: any ResponseReceiver
  private let loop: TestLoop
  private let announce: @Sendable (ScriptedCall) -> Void
  private let isClosed = Locked(false)
  private let end = OneShot<GRPCStatus>()

  init(
    _ request: CallRequest,
    _ receiver: any ResponseReceiver,
    _ loop: TestLoop,
    _ announce: @escaping @Sendable (ScriptedCall) -> Void
  ) {
    self.request = request
    self.receiver = receiver
    self.loop = loop
    self.announce = announce
  }

  func start() {
    announce(self)
  }

  func poll(until isReady: () -> Bool) {}

  func cancel(_ status: GRPCStatus) {
    end.settle(.success(status))
    loop.execute { self.close(status, [:]) }
  }

  /// Waits until the call is cancelled, and returns the status.
  func cancellation() async throws -> GRPCStatus { try await end.value() }

  // MARK: The server's actions

  func sendHeaders(_ headers: HPACKHeaders = [":status": "200"]) {
    loop.execute { self.receiver.receive(headers: headers) }
  }

  func send(_ message: [UInt8]) {
    loop.execute {
      if let responses = self.request.responses {
        responses.push(MessageBuffer(message))
      } else {
        MessageBuffer(message).withBytes { self.receiver.receive(message: $0) }
      }
    }
  }

  func end(_ code: GRPCStatus.Code = .ok, _ trailers: HPACKHeaders = [:], origin: GRPCStatus.Origin = .peer) {
    let status = GRPCStatus(code: code, message: code == .ok ? "OK" : "scripted", origin: origin)
    loop.execute { self.close(status, trailers) }
  }

  /// A complete, successful unary response.
  func answer(_ message: [UInt8]) {
    sendHeaders()
    send(message)
    end()
  }

  func report(_ part: SentPart) { loop.execute { self.receiver.sent(part) } }

  /// The next request of a stream, or `nil` at the end.
  func nextRequest() async throws -> [UInt8]? {
    guard case .stream(let pipe) = request.body else { return nil }
    return try await pipe.next().map { message in
      message.withBytes { span in span.withUnsafeBytes { Array($0) } }
    }
  }

  /// The single request.
  var onlyRequest: [UInt8]? {
    guard case .message(let message) = request.body else { return nil }
    return message.withBytes { span in span.withUnsafeBytes { Array($0) } }
  }

  private func close(_ status: GRPCStatus, _ trailers: HPACKHeaders) {
    let isFirst = isClosed.withLock { closed in
      defer { closed = true }
      return !closed
    }
    guard isFirst else { return }
    if case .stream(let pipe) = request.body { pipe.abort(status) }
    receiver.close(status, trailers: trailers)
  }
}
