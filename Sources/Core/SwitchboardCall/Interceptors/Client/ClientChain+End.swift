// unsafe: a chain is touched on its call's loop alone, and keeps its interceptors while one runs; its one end
//   resumes the caller

/// What few calls have: streams, a failure on this side, or an alarm while the chain holds them back. A separate object,
/// because each reference that a chain may have costs every call some ten instructions.
@usableFromInline
final class RareCallState {
  // Unchecked exclusivity holds as in the chain.
  @exclusivity(unchecked) var requests: MessagePipe?
  @exclusivity(unchecked) var responses: StreamedAnswers?
  /// Waits until the caller has room for more responses.
  @exclusivity(unchecked) @usableFromInline var room: (@Sendable (Int) async throws -> Void)?
  /// See `PartQueue.keepNext`.
  @exclusivity(unchecked) @usableFromInline var keepNext: (@Sendable ((any AnyObject & Sendable)?) -> Void)?
  @exclusivity(unchecked) var alarm: Task<Void, Never>?
  /// Why the caller cancelled.
  var reason: GRPCStatus?
  /// Whether streamed requests have ended for the transport.
  var requestsHaveEnded = false
  /// Whether the server has ended the call.
  var wasAnswered = false
  /// Whether the log says that messages came after the end.
  var hasLostMessages = false
  /// Why a response could not be decoded. This fails the call, regardless of what the server reports.
  var decodingFailure: GRPCStatus?

  @usableFromInline
  init() {}
}

// The end of a call: by the transport, the caller, the deadline, or a part that cannot be encoded or decoded.
extension ClientChain {
  @usableFromInline var reason: GRPCStatus? { rare?.reason }

  /// Changes what few calls have.
  @usableFromInline
  func keep(_ change: (RareCallState) -> Void) {
    let kept = rare ?? RareCallState()
    rare = kept
    change(kept)
  }

  @usableFromInline
  func failToDecode(_ error: any Error) {
    let status = GRPCStatus.marshalling(error, "decoded")
    keep { $0.decodingFailure = $0.decodingFailure ?? status }
    stop(status)
  }

  @usableFromInline
  func status(ofEncoding error: any Error) -> GRPCStatus { .marshalling(error, "encoded") }

  /// Ends the call from this side; the chain sees an error.
  @usableFromInline
  func stop(_ status: GRPCStatus) {
    if let call, phase == .live { return call.cancel(status) }
    phase = .over
    settings.giveBack()
    rare?.responses?.credit.close()
    rare?.responses = nil
    promises.failAll(status)
    guard isOpen else { return }
    errorCaught(status, at: transportEnd)
    watchDeadline()
  }

  /// The call on the transport has ended.
  func finish(_ status: consuming GRPCStatus, _ trailers: consuming HPACKHeaders) {
    phase = .over
    settings.giveBack()
    call = nil
    if let rare {
      (rare.requests, rare.responses) = (nil, nil)
      rare.wasAnswered = status.isOk || status.origin == .peer
    }
    if !promises.isEmpty { promises.failAll(status.isOk ? .callEnded : copy status) }
    guard isOpen else { return }
    if let failure = rare?.decodingFailure {
      errorCaught(failure, at: transportEnd)
    } else if status.isOk || status.origin == .peer {
      codec.end(self, status, trailers)
    } else {
      errorCaught(status, at: transportEnd)
    }
    if isOpen { watchDeadline() }
  }

  /// Closes the chain, so that no more parts pass.
  @inlinable
  func close() {
    closeChain()
    closeTransport()
  }

  @usableFromInline
  func closeTransport() {
    if let rare {
      rare.alarm?.cancel()
      (rare.alarm, rare.room, rare.keepNext) = (nil, nil, nil)
    }
    message = nil
    if phase == .live { call?.cancel(.cancelledByCaller) }
    if !promises.isEmpty { promises.failAll(.callEnded) }
  }

  // MARK: Cancellation by the caller

  @usableFromInline
  func cancel(promise: EventLoopPromise<Void>?, to index: Int) {
    guard isHere else {
      return eventLoop.execute { self.cancel(promise: promise, to: index) }
    }
    guard isOpen else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    guard interceptors.contains(index) else {
      stop(reason ?? .cancelledByCaller)
      promise?.succeed()
      return
    }
    perform(at: index, on: sideWork?.executors?[index].sent) {
      $0.cancel(promise: promise, context: $1)
    }
  }

  private func giveUp(_ status: GRPCStatus) {
    guard isOpen else { return }
    keep { $0.reason = status }
    guard hasStarted else { return }
    cancel(promise: nil, to: applicationEnd)
    afterSideWork { self.endOpenCall(status) }
  }

  /// Runs `work` once no executor has a part of the call.
  private func afterSideWork(_ work: @escaping () -> Void) {
    if let sideWork { sideWork.endWhenDone(work) } else { work() }
  }

  /// A call that ends later, such as while it is prepared or its responses are read, would be too late for the chain.
  private func endOpenCall(_ status: GRPCStatus) {
    if phase == .live { call?.cancel(status) }
    if phase == .live { finish(status, HPACKHeaders()) }
    if isOpen { deliver(.end(status, HPACKHeaders())) }
  }

  @usableFromInline
  package func sideWorkIsDone() { sideWork?.workIsDone() }

  // MARK: The deadline

  var deadline: ContinuousClock.Instant? { settings.deadline?.time }

  /// Enforces the deadline while the chain holds the call back. Otherwise the transport does.
  @usableFromInline
  func watchDeadline() {
    guard isOpen, phase != .live || call == nil, rare?.alarm == nil, let deadline = settings.deadline else {
      return
    }
    let alarm = transport.environment.time.alarm(at: deadline.time, on: eventLoop) { [weak self] in
      self?.alarmRang(deadline)
    }
    keep { $0.alarm = alarm }
  }

  private func alarmRang(_ past: CallDeadline) {
    rare?.alarm = nil
    guard isOpen, let deadline = settings.deadline else { return }
    // An interceptor may have extended the deadline.
    if deadline.time > past.time { return watchDeadline() }
    afterSideWork {
      guard self.isOpen else { return }
      let status = deadline.exceeded(
        by: self.transport.environment.time,
        chosen: self.settings.current.options.timeout,
        "while an interceptor held the call\(self.namesOfInterceptors)"
      )
      self.stop(status)
      self.afterSideWork { self.endOpenCall(status) }
    }
  }
}

// MARK: - The caller's handle on its call, from any thread

extension ClientChain: ByteCall {
  /// Does nothing, because the chain starts with its first parts.
  @usableFromInline
  func start() {}

  @usableFromInline
  func poll(until isReady: () -> Bool) {}

  @usableFromInline
  func cancel(_ status: GRPCStatus) {
    eventLoop.execute { self.giveUp(status) }
  }

  @usableFromInline
  func cancelByCaller() { cancel(.cancelledByCaller) }
}
