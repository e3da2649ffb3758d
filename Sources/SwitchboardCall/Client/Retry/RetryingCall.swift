/// A call that may be made more than once, by gRFC A6: one after the other when an attempt fails, or several at once.
///
/// It is committed to an attempt when the server's headers come, when the requests are more than may be kept, or when
/// no other attempt will follow. Until then nothing of a response reaches the caller.
final class RetryingCall: ByteCall, @unchecked Sendable {
  // Sendable holds because what other threads touch is `cancellation`, behind its lock; the rest is touched on the
  // event loop alone.

  /// ```
  ///   idle ──start──> running ──status──> closed
  /// ```
  enum Phase {
    case idle, running, closed
  }

  let request: CallRequest
  let receiver: any ResponseReceiver
  let transport: any ByteTransport
  let plan: RepetitionPlan
  let environment: CallEnvironment
  var phase = Phase.idle
  var schedule: AttemptSchedule
  /// The attempts that have not ended.
  var attempts: [Attempt] = []
  var committed: Attempt?
  var attemptsMade = 0
  var log = RequestLog()
  var deadline: ContinuousClock.Instant?
  var lastFailure: (status: GRPCStatus, trailers: HPACKHeaders)?
  private var alarm: Task<Void, Never>?
  private var forwarding: Task<Void, Never>?
  private var toldMetadata = false
  private var toldMessages = 0
  private var toldEnd = false
  private let cancellation = Locked<GRPCStatus?>(nil)

  init(
    _ request: CallRequest,
    _ receiver: any ResponseReceiver,
    _ transport: any ByteTransport,
    _ plan: RepetitionPlan,
    _ environment: CallEnvironment
  ) {
    self.request = request
    self.receiver = receiver
    self.transport = transport
    self.plan = plan
    self.environment = environment
    schedule = AttemptSchedule(plan.repetition)
    if case .message(let message) = request.body, message.byteCount > plan.bufferLimit { schedule.stop() }
  }

  var loop: any EventLoop { transport.eventLoop }

  // MARK: For the caller, from any thread

  func start() { onLoop { $0.begin() } }

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
    deadline = request.options?.timeout.map { environment.time.now.advanced(by: $0) }
    makeAttempt()
    if case .stream(let pipe) = request.body { pipe.attach(self) }
  }

  /// Makes the call once more; then waits for what the schedule waits for.
  func makeAttempt() {
    guard phase == .running, committed == nil else { return }
    let attempt = Attempt(self, requests: requestPipe(), responses: responsePipe())
    var copy = request
    copy.previousAttempts = attemptsMade
    if let pipe = attempt.requests { copy.body = .stream(pipe) }
    if let pipe = attempt.responses { copy.responses = pipe }
    if let deadline { copy.options?.timeout = max(.zero, environment.time.now.duration(to: deadline)) }
    attemptsMade += 1
    attempts.append(attempt)
    let call = transport.makeCall(copy, receiver: attempt)
    attempt.call = call
    if attemptsMade == schedule.maxAttempts, attempts.count == 1 { commit(attempt) }
    call.start()
    pump(attempt)
    if committed == nil, !attempt.isOver, case .hedging(let delay) = schedule.mode { hedge(after: delay) }
  }

  private func requestPipe() -> MessagePipe? {
    guard case .stream = request.body else { return nil }
    return MessagePipe(limit: transport.streamBufferSize)
  }

  /// Only one of several attempts at a time may write into the caller's own pipe.
  private func responsePipe() -> MessagePipe? {
    guard request.responses != nil, case .hedging = schedule.mode else { return nil }
    return MessagePipe(limit: transport.streamBufferSize)
  }

  private func hedge(after delay: Duration) {
    guard schedule.allowsAnother(after: attemptsMade), plan.throttle?.allowsRepetition ?? true else { return }
    wake(after: delay)
  }

  /// Makes the next attempt after a while, unless the deadline comes first.
  func wake(after delay: Duration) {
    alarm?.cancel()
    let now = environment.time.now
    var time = now.advanced(by: delay)
    if let deadline, attempts.isEmpty { time = min(time, deadline) }
    alarm = environment.time.alarm(at: time, on: loop) { self.wokenUp() }
  }

  private func wokenUp() {
    guard phase == .running, committed == nil else { return }
    alarm = nil
    if let deadline, environment.time.now >= deadline {
      // Attempts that are under way end with the deadline by themselves.
      if attempts.isEmpty { finish(.deadlinePassed, HPACKHeaders()) }
      return
    }
    // The tokens may have run low since.
    if case .hedging = schedule.mode, !(plan.throttle?.allowsRepetition ?? true) {
      return finishIfNothingIsLeft()
    }
    makeAttempt()
  }

  func finishIfNothingIsLeft() {
    guard attempts.isEmpty, let lastFailure else { return }
    finish(lastFailure.status, lastFailure.trailers)
  }

  func stopWaking() {
    alarm?.cancel()
    alarm = nil
  }

  /// No other attempt counts from now on.
  func commit(_ attempt: Attempt) {
    guard committed == nil else { return }
    committed = attempt
    stopWaking()
    let others = attempts.filter { $0 !== attempt }
    attempts = [attempt]
    for other in others { other.abandon(.lostToAnother) }
    log.drop(before: attempt.cursor)
  }

  /// The one way in which the call ends.
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
    receiver.close(status, trailers: receiver.wantsMetadata ? trailers : HPACKHeaders())
  }

  // MARK: What the caller is told once, whichever attempt it is true of

  func tell(_ part: SentPart, _ count: Int) {
    switch part {
    case .metadata:
      guard !toldMetadata else { return }
      toldMetadata = true
    case .message:
      guard count > toldMessages else { return }
      toldMessages = count
    case .end:
      guard !toldEnd else { return }
      toldEnd = true
    }
    receiver.sent(part)
  }

  /// Brings the responses of the attempt that counts to the caller, and then its end.
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
  /// For attempts that were not needed in the end.
  static let lostToAnother = GRPCStatus(code: .cancelled, message: "another attempt was answered first")
}
