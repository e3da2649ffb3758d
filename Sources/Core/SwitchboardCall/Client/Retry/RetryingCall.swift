// unsafe: attempts are touched on their call's loop alone

/// A call that may be made more than once, as gRFC A6 describes: again after a failure, or several times in parallel.
///
/// It commits to an attempt when the server's headers arrive, when the requests exceed the buffer, or when no other
/// attempt will follow. Until then, the caller receives no part of a response.
final class RetryingCall: ByteCall, @unchecked Sendable {
  // Sendable holds because other threads use only `cancellation`, which is locked; the rest stays on the event loop.

  /// ```
  ///   idle ──start──> running ──status──> closed
  /// ```
  enum Phase {
    case idle, running, closed
  }

  let request: CallRequest
  let receiver: any ResponseReceiver
  let engine: CallEngine
  let plan: RepetitionPlan
  var phase = Phase.idle
  var schedule: AttemptSchedule
  var attempts: [Attempt] = []
  var committed: Attempt?
  var attemptsMade = 0
  private let servers: AttemptedServers
  var log = RequestLog()
  /// The size of the requests, once they take more than the buffer, until the server answers: the call is not made again.
  var excess: Int?
  var lastFailure: (status: GRPCStatus, trailers: HPACKHeaders)?
  private var alarm: Task<Void, Never>?
  private var forwarding: Task<Void, Never>?
  private var reportedMetadata = false
  private var reportedMessages = 0
  private var reportedEnd = false
  private let cancellation = Locked<GRPCStatus?>(nil)

  init(
    _ request: CallRequest,
    _ receiver: any ResponseReceiver,
    _ engine: CallEngine,
    _ plan: RepetitionPlan
  ) {
    schedule = AttemptSchedule(plan.repetition)
    servers = AttemptedServers(request.route)
    var request = request
    if let tracer = request.tracer {
      request.tracer = tracer.mayRepeat(request, hedging: schedule.isHedging)
    }
    self.request = request
    self.receiver = receiver
    self.engine = engine
    self.plan = plan
    if case .message(let message) = request.body, message.byteCount > plan.bufferLimit {
      schedule.stop()
      excess = message.byteCount
    }
  }

  var loop: any EventLoop { engine.eventLoop }
  var environment: CallEnvironment { engine.environment }

  // MARK: For the caller, from any thread

  func start() { onLoop { $0.begin() } }

  func poll(until isReady: () -> Bool) {}

  func cancel(_ status: GRPCStatus) {
    cancellation.withLock { if $0 == nil { $0 = status } }
    onLoop { call in
      guard call.phase == .running else { return }
      call.finish(status, HPACKHeaders())
    }
  }

  func onLoop(_ body: @escaping @Sendable (RetryingCall) -> Void) {
    if loop.inEventLoop { return body(self) }
    loop.execute { body(self) }
  }

  // MARK: On the loop

  private func begin() {
    guard phase == .idle else { return }
    phase = .running
    if let status = cancellation.withLock({ $0 }) { return finish(status, HPACKHeaders()) }
    makeAttempt()
    // The attempt may have ended the call.
    if phase == .running, case .stream(let pipe) = request.body { pipe.attach(self) }
  }

  /// Makes an attempt, then waits as the schedule requires.
  func makeAttempt() {
    guard phase == .running, committed == nil else { return }
    let attempt = Attempt(self, requests: requestPipe(), responses: responsePipe())
    var copy = request
    copy.previousAttempts = attemptsMade
    copy.placement = .attempts(servers)
    if let pipe = attempt.requests { copy.body = .stream(pipe) }
    if let pipe = attempt.responses { copy.responses = pipe }
    attemptsMade += 1
    attempts.append(attempt)
    let call = engine.makeAttempt(copy, attempt)
    attempt.call = call
    if attemptsMade == schedule.maxAttempts, attempts.count == 1 { commit(attempt) }
    call.start()
    pump(attempt)
    if committed == nil, !attempt.isOver, case .hedging(let delay) = schedule.mode { hedge(after: delay) }
  }

  private func requestPipe() -> MessagePipe? {
    guard case .stream = request.body else { return nil }
    return MessagePipe(limit: engine.streamBufferSize)
  }

  /// Each hedged attempt has its own pipe, because only one attempt at a time may write to the caller's pipe.
  private func responsePipe() -> MessagePipe? {
    guard request.responses != nil, case .hedging = schedule.mode else { return nil }
    return MessagePipe(limit: engine.streamBufferSize)
  }

  private func hedge(after delay: Duration) {
    guard schedule.allowsAnother(after: attemptsMade), plan.throttle?.allowsRepetition ?? true else { return }
    wake(after: delay)
  }

  /// Makes the next attempt after a delay, unless the deadline comes first.
  func wake(after delay: Duration) {
    alarm?.cancel()
    let now = environment.time.now
    var time = now.advanced(by: delay)
    if let deadline = request.deadline?.time, attempts.isEmpty { time = min(time, deadline) }
    alarm = environment.time.alarm(at: time, on: loop) { self.wokenUp() }
  }

  private func wokenUp() {
    guard phase == .running, committed == nil else { return }
    alarm = nil
    if let deadline = request.deadline?.time, environment.time.now >= deadline {
      // The transport ends attempts in flight at the deadline.
      if attempts.isEmpty { finish(deadlineExceeded, HPACKHeaders()) }
      return
    }
    // The throttle's tokens may have run low in the meantime.
    if case .hedging = schedule.mode, !(plan.throttle?.allowsRepetition ?? true) {
      return finishIfNothingIsLeft()
    }
    makeAttempt()
  }

  private var deadlineExceeded: GRPCStatus {
    let failure = lastFailure.map { " (attempt \(attemptsMade) ended with \($0.status))" } ?? ""
    return request.deadlineExceeded(by: environment.time, "while waiting to try again\(failure)")
  }

  func finishIfNothingIsLeft() {
    guard attempts.isEmpty, let lastFailure else { return }
    finish(lastFailure.status, lastFailure.trailers)
  }

  func stopWaking() {
    alarm?.cancel()
    alarm = nil
  }

  /// Commits the call to this attempt and abandons the others.
  func commit(_ attempt: Attempt) {
    guard committed == nil else { return }
    committed = attempt
    stopWaking()
    let others = attempts.filter { $0 !== attempt }
    attempts = [attempt]
    for other in others { other.abandon(.lostToAnother) }
    log.drop(before: attempt.cursor)
  }

  /// Ends the call. Every other way to end it leads here.
  func finish(_ status: GRPCStatus, _ trailers: HPACKHeaders) {
    guard phase != .closed else { return }
    phase = .closed
    stopWaking()
    forwarding?.cancel()
    forwarding = nil
    for attempt in attempts { attempt.abandon(status) }
    attempts = []
    if case .stream(let pipe) = request.body {
      pipe.detach()
      pipe.abort(status.isOk ? .callEnded : status)
    }
    log = RequestLog()
    request.traceEnd(status)
    receiver.close(status, trailers: receiver.wantsMetadata ? trailers : HPACKHeaders())
  }

  // MARK: Reports to the caller: each part once, for all attempts

  func report(_ part: SentPart, _ count: Int) {
    switch part {
    case .metadata:
      guard !reportedMetadata else { return }
      reportedMetadata = true
    case .message:
      guard count > reportedMessages else { return }
      reportedMessages = count
    case .end:
      guard !reportedEnd else { return }
      reportedEnd = true
    }
    receiver.sent(part)
  }

  /// Forwards the responses of the committed attempt, and then ends the call.
  func forward(_ source: MessagePipe) {
    guard forwarding == nil, let target = request.responses else { return }
    forwarding = Task(executorPreference: loop) {
      while let message = try? await source.next() {
        guard (try? await target.write(message)) != nil else { break }
      }
      self.forwardingEnded()
    }
  }

  private func forwardingEnded() {
    guard phase == .running, let lastFailure else { return }
    finish(lastFailure.status, lastFailure.trailers)
  }

  var isForwarding: Bool { forwarding != nil }
}

extension GRPCStatus {
  static let lostToAnother = GRPCStatus(code: .cancelled, message: "another attempt was answered first")
}
