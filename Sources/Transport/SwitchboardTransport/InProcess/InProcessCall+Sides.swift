import SwitchboardCall
import SwitchboardNetwork
import Synchronization

extension InProcessCall: ByteCall {
  func start() { onLoop { $0.begin() } }

  /// Does nothing: the loop that answers the call needs the processor.
  func poll(until isReady: () -> Bool) {}

  func cancel(_ status: GRPCStatus) {
    onLoop { call in call.close(status) }
  }

  func onLoop(_ body: @escaping @Sendable (InProcessCall) -> Void) {
    if transport.loop.inEventLoop { return body(self) }
    transport.loop.execute { body(self) }
  }
}

/// Reads from the pipe of requests show that messages have left the client, and reads from the pipe of responses that
/// they have left the server.
extension InProcessCall: MessagePipe.Observer {
  func pipeBecameReadable(_ pipe: MessagePipe) {
    if let refusal = pipe.refusal { return onLoop { $0.close(refusal) } }
    guard pipe !== request.responses, pipe.hasEnded else { return }
    onLoop { $0.receiver.sent(.end) }
  }

  func pipe(_ pipe: MessagePipe, wasRead byteCount: Int, leaving room: MessagePipe.Room) {
    let isRequest = pipe !== request.responses
    onLoop { $0.reportRead(isRequest: isRequest) }
  }

  func doElsewhere(_ work: @escaping @Sendable () -> Void, then finish: @escaping @Sendable () -> Void) {
    Task.detached(priority: .ofLargeMessages) {
      work()
      self.loop.execute(finish)
    }
  }
}

extension InProcessCall: LoopServerStream {
  var loop: Loop { transport.loop }
  var deadline: CallDeadline? { request.deadline }
  var eventLoop: any EventLoop { transport.loop }
  var peer: PeerIdentity { PeerIdentity(address: "inprocess") }
  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// The pipe that the client writes to.
  var requests: MessagePipe { streamedRequests ?? MessagePipe.ended }

  /// The pipe that the client reads from.
  var responses: MessagePipe {
    guard let pipe = request.responses else { return MessagePipe.ended }
    onLoop { $0.deliverHeaders() }
    return pipe
  }

  func setHeaders(_ headers: HPACKHeaders) {
    check(.initialMetadata)
    change(with: headers) { $0.headers = $1 }
  }

  func addHeaders(_ headers: HPACKHeaders) { change(with: headers) { $0.headers = $0.headers.adding($1) } }

  func sendHeaders() { onLoop { $0.deliverHeaders() } }

  func setTrailers(_ trailers: HPACKHeaders) {
    check(.trailers)
    change(with: trailers) { $0.trailers = $1 }
  }

  func addTrailers(_ trailers: HPACKHeaders) {
    change(with: trailers) { $0.trailers = $0.trailers.adding($1) }
  }

  private func change(with metadata: HPACKHeaders, _ body: (inout Shared, HPACKHeaders) -> Void) {
    if let failure = metadata.failureToSend { return finish(status(ofUnsendable: failure)) }
    shared.change(from: Shared()) { body(&$0, metadata) }
  }

  /// Within a process, compression saves nothing.
  var requestWasCompressed: Bool { false }
  func setCompression(_ compression: MessageCompression) { check(.compression) }

  /// What the handler does comes to the loop in this order.
  private func check(_ action: LateAction) {
    onLoop { call in
      if call.isTooLate(for: action) { call.wasTooLate(action) }
    }
  }

  func executorForHandler() -> HandlerExecutor {
    HandlerExecutor(servedMethod?.executor, or: transport.loop)
  }

  var taskContext: (any ContextSource)? { handlerContext }

  func handlerReceives(_ headers: HPACKHeaders) { handlerContext?.handlerReceives(headers) }

  func keep(_ task: consuming Task<Void, any Error>) { self.task = task }

  /// A call that succeeded is cancelled too, but not its handler.
  var isHandlerCancelled: Bool { isCancelled && !hasSucceeded }

  /// Running handlers are not counted, because the client is part of the same process.
  func handlerReturned() {}

  /// Whether its handler has returned is not known.
  func endWasIgnored(_ action: LateAction) {}

  func cancelHandler() {
    cancelled.store(true, ordering: .relaxed)
    task?.cancel()
  }

  func respond(_ message: consuming MessageBuffer) {
    let message = message
    onLoop { $0.answer(message) }
  }

  func finish(_ status: GRPCStatus) { onLoop { $0.end(status) } }

  var userInfo: UserInfo {
    get { shared.value?.userInfo ?? UserInfo() }
    set { shared.change(from: Shared()) { $0.userInfo = newValue } }
  }

  var load: (any CallLoad)? {
    get { shared.value?.load }
    set { shared.change(from: Shared()) { $0.load = newValue } }
  }

  var serverOptions: ServerOptions { transport.options }
  var serverLog: ServerLog { transport.log }
  var shutdown: ShutdownSignal { transport.shutdown }

  var nameInLogs: String { String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16) }
  var method: MethodDescriptor { request.method }
}
