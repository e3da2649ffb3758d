/// The end of a client's chain: gathers the parts that come out of it into calls on the transport, and brings
/// the transport's answers to the chain.
///
/// The chain stands on it, in one object: a call with interceptors has few allocations.
@usableFromInline
class ClientTransportEnd: @unchecked Sendable {
  // Sendable holds because everything but `settings`, which sees to it, is touched on the event loop alone, where
  // the transport also tells its receiver. Unchecked exclusivity holds because no access lasts while other code
  // runs.

  /// ```
  ///   idle ──metadata──> gathering ──end, or at once when requests stream──> live ──status──> over
  /// ```
  /// When it is over, an interceptor that kept the status to itself may send the call once more. What is still on its way
  /// then, from an executor or a writer, comes too late, which is nobody's fault.
  enum Phase {
    case idle
    case gathering
    case live
    case over
  }

  @usableFromInline let eventLoop: any EventLoop
  let transport: CallEngine
  @usableFromInline let method: MethodDescriptor
  let settings: SharedCallSettings
  @exclusivity(unchecked) @usableFromInline var contentSubtype = ContentSubtype.unnamed
  @exclusivity(unchecked) private var troubles: Troubles?
  @exclusivity(unchecked) private(set) var requests: MessagePipe?
  @exclusivity(unchecked) private var phase = Phase.idle
  /// What the caller starts the call with; then, what comes out of the chain.
  @exclusivity(unchecked) @usableFromInline private(set) var metadata: HPACKHeaders
  @exclusivity(unchecked) private var message: MessageBuffer?
  /// Whether the caller has not been told of the end.
  @exclusivity(unchecked) @usableFromInline final var isOpen = true
  @exclusivity(unchecked) private var call: (any ByteCall)?
  @exclusivity(unchecked) var responses: StreamedAnswers?
  @exclusivity(unchecked) private var promises = SentPromises()
  @exclusivity(unchecked) private var alarm: Task<Void, Never>?

  /// Waits until the caller has room for more responses.
  @exclusivity(unchecked) @usableFromInline var room: (@Sendable (Int) async throws -> Void)?
  /// How many responses the chain wants, where they stream.
  @exclusivity(unchecked) private var credit: Credit?

  /// What goes wrong on this side. An object, since few calls have any of it.
  private final class Troubles {
    /// Why the caller gave up.
    var reason: GRPCStatus?
    /// Why a response could not be read, which fails the call whatever the server says.
    var decodingFailure: GRPCStatus?
  }

  @usableFromInline
  init(
    _ transport: borrowing CallEngine,
    _ method: borrowing MethodDescriptor,
    _ options: borrowing CallOptions
  ) {
    eventLoop = transport.eventLoop
    self.transport = copy transport
    self.method = copy method
    metadata = options.initialMetadata
    settings = SharedCallSettings(copy options)
  }

  var deadline: ContinuousClock.Instant? { settings.current.deadline }
  final var decodingFailure: GRPCStatus? { troubles?.decodingFailure }
  /// Why the caller gave up.
  @usableFromInline final var reason: GRPCStatus? { troubles?.reason }
  /// Whether the transport has the call, and watches its deadline.
  private var isLive: Bool { phase == .live && call != nil }

  // MARK: Requests

  @usableFromInline
  final func send(metadata: HPACKHeaders, _ promise: EventLoopPromise<Void>?) {
    guard phase == .idle || phase == .over else {
      return refuse(promise, "the metadata of a call was sent twice")
    }
    self.metadata = metadata
    message = nil
    troubles?.decodingFailure = nil
    promises = SentPromises()
    promises.addMetadata(promise)
    phase = .gathering
    guard method.type.streamsRequests else { return }
    let pipe = MessagePipe(limit: transport.streamBufferSize)
    requests = pipe
    start(.stream(pipe))
  }

  @usableFromInline
  final func send(
    _ buffer: consuming MessageBuffer,
    _ metadata: MessageMetadata,
    _ promise: EventLoopPromise<Void>?
  ) {
    buffer.mayCompress = metadata.compress
    if let requests, phase == .live {
      promises.add(promise)
      requests.push(consume buffer, flush: metadata.flush)
    } else if phase == .gathering, message == nil {
      message = consume buffer
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
    } else if phase == .gathering, let message = message.take() {
      promises.addEnd(promise)
      start(.message(message))
    } else {
      refuse(promise, "the end of the requests was sent before a message")
    }
  }

  /// A part that could not be sent, through the fault of the chain: it fails, and the call with it.
  private func refuse(_ promise: EventLoopPromise<Void>?, _ reason: String) {
    guard phase != .over else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
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
    note { $0.decodingFailure = $0.decodingFailure ?? status }
    stop(status)
  }

  /// The caller gives up, for the first time or again.
  final func noteReason(_ status: GRPCStatus) { note { $0.reason = status } }

  private func note(_ change: (Troubles) -> Void) {
    let noted = troubles ?? Troubles()
    troubles = noted
    change(noted)
  }

  /// Whether the options choose a format.
  @usableFromInline
  final var hasChosenFormat: Bool { settings.current.options.payloadFormat != nil }

  /// The options, where they choose a format.
  @usableFromInline
  final var optionsWithFormat: CallOptions? {
    let options = settings.current.options
    return options.payloadFormat == nil ? nil : options
  }

  private func start(_ body: consuming CallRequest.Body) {
    phase = .live
    if method.type.streamsResponses {
      let credit = Credit(credit?.count ?? 0)
      self.credit = credit
      responses = StreamedAnswers(transport.streamBufferSize, credit)
    }
    // Nothing was chosen for most calls.
    if settings.areEmpty, metadata.isEmpty {
      return start(transport.makeCall(request(method, nil, body), receiver: self))
    }
    let settings = settings.current
    let changed = settings.path.map { MethodDescriptor(path: $0, type: method.type) }
    let request = request(changed ?? method, settings.options(startingWith: metadata), body)
    guard let host = settings.host else { return start(transport.makeCall(request, receiver: self)) }
    do {
      start(try transport.sibling(for: host).makeCall(request, receiver: self))
    } catch {
      finish(error, HPACKHeaders())
    }
  }

  /// Lets so many more responses come to the chain.
  final func addDemand(_ count: Int) {
    let credit = credit ?? Credit()
    self.credit = credit
    credit.add(count)
  }

  private func request(
    _ method: MethodDescriptor,
    _ options: CallOptions?,
    _ body: consuming CallRequest.Body
  ) -> CallRequest {
    CallRequest(
      method: method,
      options: options,
      body: body,
      responses: responses?.pipe,
      contentSubtype: contentSubtype
    )
  }

  private func start(_ call: any ByteCall) {
    self.call = call
    call.start()
  }

  // MARK: Ends

  /// Ends the call from this side; the chain hears of it as an error.
  @usableFromInline
  final func stop(_ status: GRPCStatus) {
    if let call, phase == .live { return call.cancel(status) }
    phase = .over
    responses?.credit.close()
    responses = nil
    promises.failAll(status)
    guard isOpen else { return }
    tellFailure(status)
    watchDeadline()
  }

  /// The chain is gone: nothing is told any more.
  @usableFromInline
  final func closeTransport() {
    if let alarm {
      alarm.cancel()
      self.alarm = nil
    }
    room = nil
    message = nil
    if phase == .live { call?.cancel(.cancelledByCaller) }
    responses?.credit.close()
    if !promises.isEmpty { promises.failAll(.callEnded) }
  }

  final func finish(_ status: GRPCStatus, _ trailers: HPACKHeaders) {
    phase = .over
    call = nil
    requests = nil
    responses = nil
    if !promises.isEmpty { promises.failAll(status.isOk ? .callEnded : status) }
    guard isOpen else { return }
    if let decodingFailure {
      tellFailure(decodingFailure)
    } else if status.isOk || status.origin == .peer {
      tellEnd(status, trailers)
    } else {
      tellFailure(status)
    }
    watchDeadline()
  }

  final func complete(_ part: SentPart) { promises.complete(part, on: eventLoop) }

  /// Whether anybody waits to hear that a part has left. A call that does not stream its requests has all of them when it
  /// starts.
  final var hasPromises: Bool { method.type.streamsRequests || !promises.isEmpty }

  /// The transport is done with the call, though the chain has not taken all of it.
  final func transportIsDone() {
    call = nil
    watchDeadline()
  }

  // MARK: What the chain that stands on this is told

  func tellHeaders(_ headers: HPACKHeaders) {}

  func tellMessage(_ bytes: RawSpan) {}

  /// The peer ended the call.
  func tellEnd(_ status: GRPCStatus, _ trailers: HPACKHeaders) {}

  /// This side did.
  func tellFailure(_ status: GRPCStatus) {}

  /// The caller gives up.
  func giveUp(_ status: GRPCStatus) {}

  /// The chain has kept the call to itself until its deadline.
  func deadlinePassed() {}

  // MARK: The deadline

  /// While the transport has the call, it watches the deadline; a chain that keeps the call to itself must not
  /// escape it.
  @usableFromInline
  final func watchDeadline() {
    if isOpen, !isLive { setAlarm() }
  }

  private func setAlarm() {
    guard alarm == nil, let deadline else { return }
    alarm = Task(executorPreference: eventLoop) { [weak self, eventLoop] in
      try? await SystemTime().sleep(until: deadline, on: eventLoop)
      if !Task.isCancelled { self?.alarmRang(deadline) }
    }
  }

  private func alarmRang(_ time: ContinuousClock.Instant) {
    alarm = nil
    guard isOpen, let deadline else { return }
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
}
