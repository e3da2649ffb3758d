/// The end of a client's chain: gathers the parts that come out of it into calls on the transport, and brings
/// the transport's answers to the chain.
///
/// The chain stands on it, in one object: a call with interceptors has few allocations.
@usableFromInline
class ClientTransportEnd: @unchecked Sendable {
  // Sendable holds because everything but `settings`, which is locked, is touched on the event loop alone, where
  // the transport also tells its receiver. Unchecked exclusivity holds because no access lasts while other code
  // runs.

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
    /// The call starts: now is the time to take the format that its options ask for.
    case formatWanted
  }

  @usableFromInline let eventLoop: any EventLoop
  let transport: any ByteTransport
  @usableFromInline let method: MethodDescriptor
  let settings: Locked<CallSettings>
  @exclusivity(unchecked) @usableFromInline var contentSubtype = ContentSubtype.unnamed
  /// Why a response could not be read, which fails the call whatever the server says.
  @exclusivity(unchecked) private(set) var decodingFailure: GRPCStatus?
  @exclusivity(unchecked) private(set) var requests: MessagePipe?
  @exclusivity(unchecked) private var phase = Phase.idle
  /// What the caller starts the call with; then, what comes out of the chain.
  @exclusivity(unchecked) @usableFromInline private(set) var metadata: HPACKHeaders
  @exclusivity(unchecked) private var message: MessageBuffer?
  @exclusivity(unchecked) private var call: (any ByteCall)?
  @exclusivity(unchecked) var responses: StreamedAnswers?
  @exclusivity(unchecked) private var promises = SentPromises()
  @exclusivity(unchecked) private var alarm: Task<Void, Never>?

  @exclusivity(unchecked) @usableFromInline var onMessage: ((RawSpan) -> Void)?
  @exclusivity(unchecked) @usableFromInline var onAnswer: ((consuming Answer) -> Void)?
  /// Waits until the caller has room for more responses.
  @exclusivity(unchecked) @usableFromInline var room: (@Sendable (Int) async -> Void)?
  /// How many responses may still be brought to the chain, where they stream.
  @exclusivity(unchecked) var demand = 0

  @usableFromInline
  init(_ transport: any ByteTransport, _ method: MethodDescriptor, _ options: CallOptions) {
    self.transport = transport
    eventLoop = transport.eventLoop
    self.method = method
    settings = Locked(CallSettings(options))
    metadata = options.initialMetadata
  }

  var deadline: ContinuousClock.Instant? { settings.withLock { $0.deadline } }
  /// Whether the transport has the call, and watches its deadline.
  @usableFromInline
  var isLive: Bool { phase == .live && call != nil }

  // MARK: Requests

  @usableFromInline
  final func send(metadata: HPACKHeaders, _ promise: EventLoopPromise<Void>?) {
    guard phase == .idle else { return refuse(promise, "the metadata of a call was sent twice") }
    self.metadata = metadata
    message = nil
    decodingFailure = nil
    promises = SentPromises()
    promises.addMetadata(promise)
    phase = .gathering
    guard method.type.streamsRequests else { return }
    let pipe = MessagePipe(limit: Channel.streamBufferSize)
    requests = pipe
    start(.stream(pipe))
  }

  @usableFromInline
  final func send(_ buffer: MessageBuffer, _ metadata: MessageMetadata, _ promise: EventLoopPromise<Void>?) {
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
  final func sendEnd(_ promise: EventLoopPromise<Void>?) {
    if let requests, phase == .live {
      promises.addEnd(promise)
      requests.finish()
    } else if phase == .gathering, let message {
      self.message = nil
      promises.addEnd(promise)
      start(.message(message))
    } else {
      refuse(promise, "the end of the requests was sent before a message")
    }
  }

  /// A part that could not be sent, through the fault of the chain: it fails, and the call with it.
  private func refuse(_ promise: EventLoopPromise<Void>?, _ reason: String) {
    let status = GRPCStatus(code: .internalError, message: "interceptors: \(reason)")
    promise?.fail(status)
    stop(status)
  }

  @usableFromInline
  final func failToEncode(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
    let status = GRPCStatus.marshalling(error, "encoded")
    promise?.fail(status)
    stop(status)
  }

  @usableFromInline
  final func failToDecode(_ error: any Error) {
    let status = GRPCStatus.marshalling(error, "decoded")
    decodingFailure = decodingFailure ?? status
    stop(status)
  }

  /// Whether the options choose a format.
  @usableFromInline
  final var hasChosenFormat: Bool { settings.withLock { $0.options.payloadFormat != nil } }

  /// The options, where they choose a format.
  @usableFromInline
  final var optionsWithFormat: CallOptions? {
    settings.withLock { $0.options.payloadFormat == nil ? nil : $0.options }
  }

  private func start(_ body: CallRequest.Body) {
    phase = .live
    let (host, path, options) = settings.withLock { settings in
      (settings.host, settings.path, settings.options(startingWith: metadata))
    }
    let target: any ByteTransport
    do {
      target = try host.map { host throws(GRPCStatus) in try transport.sibling(for: host) } ?? transport
    } catch {
      return finish(error, HPACKHeaders())
    }
    responses = method.type.streamsResponses ? StreamedAnswers() : nil
    let call = target.makeCall(
      CallRequest(
        method: path.map { MethodDescriptor(path: $0, type: method.type) } ?? method,
        options: options,
        body: body,
        responses: responses?.pipe,
        contentSubtype: contentSubtype
      ),
      receiver: self
    )
    self.call = call
    call.start()
  }

  // MARK: Ends

  /// Ends the call from this side; the chain hears of it as an error.
  @usableFromInline
  final func stop(_ status: GRPCStatus) {
    if let call, phase == .live { return call.cancel(status) }
    phase = .idle
    responses?.abandon()
    responses = nil
    promises.failAll(status)
    onAnswer?(.failure(status))
  }

  /// The chain is gone: nothing is told any more.
  @usableFromInline
  final func closeTransport() {
    if let alarm {
      alarm.cancel()
      self.alarm = nil
    }
    onMessage = nil
    onAnswer = nil
    room = nil
    message = nil
    if phase == .live { call?.cancel(.cancelledByCaller) }
    responses?.resume()
    promises.failAll(.callEnded)
  }

  final func finish(_ status: GRPCStatus, _ trailers: HPACKHeaders) {
    phase = .idle
    call = nil
    requests = nil
    responses = nil
    promises.failAll(status.isOk ? .callEnded : status)
    if let decodingFailure {
      onAnswer?(.failure(decodingFailure))
    } else {
      onAnswer?(status.isOk || status.origin == .peer ? .end(status, trailers) : .failure(status))
    }
  }

  final func complete(_ part: SentPart) { promises.complete(part, on: eventLoop) }

  /// The transport is done with the call, though the chain has not taken all of it.
  final func transportIsDone() {
    call = nil
    watchDeadline()
  }

  /// The caller gives up.
  func giveUp(_ status: GRPCStatus) {}

  /// The chain has kept the call to itself until its deadline.
  func deadlinePassed() {}

  // MARK: The deadline

  /// While the transport has the call, it watches the deadline; a chain that keeps the call to itself must not
  /// escape it.
  @usableFromInline
  final func watchDeadline() {
    guard onAnswer != nil, alarm == nil, !isLive, let deadline else { return }
    alarm = Task(executorPreference: eventLoop) { [weak self] in
      try? await Task.sleep(until: deadline, clock: .continuous)
      if !Task.isCancelled { self?.alarmRang(deadline) }
    }
  }

  private func alarmRang(_ time: ContinuousClock.Instant) {
    alarm = nil
    guard onAnswer != nil, let deadline else { return }
    // An interceptor may have given the call more time.
    if deadline > time { watchDeadline() } else { deadlinePassed() }
  }
}

// MARK: - The caller's hold on its call, from any thread

extension ClientTransportEnd: ByteCall {
  /// Whoever makes the chain starts it, with its first parts.
  @usableFromInline
  func start() {}

  @usableFromInline
  func cancel(_ status: GRPCStatus) {
    eventLoop.execute { self.giveUp(status) }
  }

  @usableFromInline
  final func cancelByCaller() { cancel(.cancelledByCaller) }

  /// Writing has failed: because the call ended, which then says so itself, or because of the writer, whose
  /// error ends the call.
  @usableFromInline
  final func stopWriting(_ error: any Error) {
    cancel(error is CancellationError ? .cancelledByCaller : GRPCStatus(describing: error))
  }
}
