/// The end of a client's chain: gathers the parts that come out of it into calls on the transport, and brings
/// the transport's answers to the chain.
@usableFromInline
final class ClientTransportEnd: @unchecked Sendable {
  // Sendable holds because everything is touched on the event loop alone, where the transport also tells
  // its receiver. Unchecked exclusivity holds because no access lasts while other code runs.

  /// ```
  ///   idle ──metadata──> gathering ──end, or at once when requests stream──> live ──status──> idle
  /// ```
  /// Idle again, an interceptor that kept the status to itself may send the call once more.
  enum Phase {
    case idle
    case gathering
    case live
  }

  /// What the transport answers, beside messages.
  @usableFromInline
  enum Answer {
    case metadata(HPACKHeaders)
    /// The peer ended the call.
    case end(GRPCStatus, HPACKHeaders)
    /// This side did.
    case failure(GRPCStatus)
  }

  let transport: any ByteTransport
  let method: MethodDescriptor
  @usableFromInline let deadline: ContinuousClock.Instant?
  @exclusivity(unchecked) var options: CallOptions
  @exclusivity(unchecked) var path: String
  @exclusivity(unchecked) private(set) var requests: MessagePipe?
  @exclusivity(unchecked) private var phase = Phase.idle
  @exclusivity(unchecked) private var message: MessageBuffer?
  @exclusivity(unchecked) private var call: (any ByteCall)?
  @exclusivity(unchecked) private var responses: StreamedAnswers?
  @exclusivity(unchecked) private var promises = SentPromises()

  @exclusivity(unchecked) @usableFromInline var onMessage: ((RawSpan) -> Void)?
  @exclusivity(unchecked) @usableFromInline var onAnswer: ((Answer) -> Void)?
  /// Waits until the caller has room for more responses.
  @exclusivity(unchecked) @usableFromInline var room: (@Sendable (Int) async -> Void)?

  @usableFromInline
  init(_ transport: any ByteTransport, _ method: MethodDescriptor, _ options: CallOptions) {
    self.transport = transport
    self.method = method
    self.options = options
    path = method.path
    deadline = options.timeout.map { ContinuousClock.now + $0 }
  }

  @usableFromInline
  var initialMetadata: HPACKHeaders { options.initialMetadata }
  var type: GRPCCallType { method.type }
  @usableFromInline
  var isLive: Bool { phase == .live }

  // MARK: Requests

  @usableFromInline
  func send(metadata: HPACKHeaders, _ promise: EventLoopPromise<Void>?) {
    guard phase == .idle else { return refuse(promise, "the metadata of a call was sent twice") }
    options.initialMetadata = metadata
    message = nil
    promises = SentPromises()
    promises.metadata = promise
    phase = .gathering
    guard type.streamsRequests else { return }
    let pipe = MessagePipe(limit: Channel.streamBufferSize)
    requests = pipe
    start(.stream(pipe))
  }

  @usableFromInline
  func send(_ buffer: MessageBuffer, _ metadata: MessageMetadata, _ promise: EventLoopPromise<Void>?) {
    var buffer = buffer
    buffer.mayCompress = metadata.compress
    if let requests, phase == .live {
      promises.add(promise)
      requests.push(buffer, flush: metadata.flush)
    } else if phase == .gathering, message == nil {
      message = buffer
      promises.add(promise)
    } else {
      refuse(
        promise,
        phase == .idle ? "a message was sent before the metadata" : "the call takes one message"
      )
    }
  }

  @usableFromInline
  func sendEnd(_ promise: EventLoopPromise<Void>?) {
    if let requests, phase == .live {
      promises.end = promise
      requests.finish()
    } else if phase == .gathering, let message {
      self.message = nil
      promises.end = promise
      start(.message(message))
    } else {
      refuse(promise, "the end of the requests was sent before a message")
    }
  }

  /// A part that could not be sent, through the fault of the chain: it fails, and the call with it.
  private func refuse(_ promise: EventLoopPromise<Void>?, _ reason: String) {
    let status = GRPCStatus(code: .internalError, message: "interceptors: \(reason)")
    promise?.fail(status)
    cancel(status)
  }

  @usableFromInline
  func failToEncode(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
    let status = GRPCStatus.marshalling(error, "encoded")
    promise?.fail(status)
    cancel(status)
  }

  private func start(_ body: CallRequest.Body) {
    phase = .live
    if let deadline { options.timeout = max(.zero, deadline - .now) }
    let method = path == method.path ? method : MethodDescriptor(path: path, type: type)
    responses = type.streamsResponses ? StreamedAnswers() : nil
    let call = transport.makeCall(
      CallRequest(method: method, options: options, body: body, responses: responses?.pipe),
      receiver: self
    )
    self.call = call
    call.start()
  }

  // MARK: Ends

  /// Ends the call from this side; the chain hears of it as an error.
  @usableFromInline
  func cancel(_ status: GRPCStatus) {
    if let call, phase == .live { return call.cancel(status) }
    phase = .idle
    promises.failAll(status)
    onAnswer?(.failure(status))
  }

  /// The chain is gone: nothing is told any more.
  @usableFromInline
  func close() {
    onMessage = nil
    onAnswer = nil
    room = nil
    message = nil
    if let call, phase == .live { call.cancel(.cancelledByCaller) }
    promises.failAll(.callEnded)
  }

  private func finish(_ status: GRPCStatus, _ trailers: HPACKHeaders) {
    phase = .idle
    call = nil
    requests = nil
    responses = nil
    promises.failAll(status.isOk ? .callEnded : status)
    onAnswer?(status.origin == .peer ? .end(status, trailers) : .failure(status))
  }
}

// MARK: - What the transport tells

extension ClientTransportEnd: ResponseReceiver {
  @usableFromInline
  var wantsMetadata: Bool { true }

  @usableFromInline
  func receive(headers: HPACKHeaders) {
    onAnswer?(.metadata(headers))
    guard let responses else { return }
    responses.isReading = true
    Task.immediate(executorPreference: transport.eventLoop) { await self.read(responses) }
  }

  @usableFromInline
  func receive(message: RawSpan) { onMessage?(message) }

  @usableFromInline
  func sent(_ part: SentPart) { promises.complete(part, on: transport.eventLoop) }

  /// What streamed before is told before the end is.
  @usableFromInline
  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    guard let responses, responses.isReading else { return finish(status, trailers) }
    responses.outcome = (status, trailers)
    responses.pipe.finish()
  }

  /// Reads responses as fast as the caller does.
  private func read(_ responses: StreamedAnswers) async {
    while let message = try? await responses.pipe.next() {
      message.withBytes { onMessage?($0) }
      await room?(message.byteCount)
    }
    if let outcome = responses.outcome { finish(outcome.status, outcome.trailers) }
  }
}

/// The streamed responses of one call on the transport.
private final class StreamedAnswers: @unchecked Sendable {
  // Sendable holds because everything but the pipe is touched on the event loop alone.
  let pipe = MessagePipe(limit: Channel.streamBufferSize)
  var isReading = false
  /// How the call ended, when what came before is still to be read.
  var outcome: (status: GRPCStatus, trailers: HPACKHeaders)?
}
