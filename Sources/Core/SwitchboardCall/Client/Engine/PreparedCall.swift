/// A call that must wait for something before it can be made: the service config of its name, or, as an attempt, a token.
final class PreparedCall: ByteCall {
  /// Makes the call. Runs in a task that is cancelled if the call ends first.
  typealias Preparation = @Sendable () async throws(GRPCStatus) -> any ByteCall

  /// ```
  ///   idle ──start──> preparing ──the call is made──> live
  /// ```
  /// Cancellation leads from idle and preparing to over; the deadline and a failure lead there from preparing.
  private enum Phase: Sendable {
    case idle
    case preparing(Task<Void, Never>)
    case live(any ByteCall)
    case over(GRPCStatus)
  }

  private let request: CallRequest
  private let receiver: any ResponseReceiver
  private let engine: CallEngine
  /// For the status of a deadline that passes meanwhile.
  private let awaited: @Sendable () -> String
  private let prepare: Preparation
  private let phase = Locked(Phase.idle)

  init(
    _ request: CallRequest,
    _ receiver: any ResponseReceiver,
    _ engine: CallEngine,
    awaiting awaited: @escaping @Sendable () -> String,
    _ prepare: @escaping Preparation
  ) {
    self.request = request
    self.receiver = receiver
    self.engine = engine
    self.awaited = awaited
    self.prepare = prepare
  }

  func start() {
    let cancelled: GRPCStatus? = phase.withLock { phase in
      if case .over(let status) = phase { return status }
      guard case .idle = phase else { return nil }
      phase = .preparing(Task(executorPreference: engine.eventLoop) { await self.makeCall() })
      return nil
    }
    if let cancelled { close(cancelled) }
  }

  private func makeCall() async {
    let time = engine.environment.time
    let alarm = request.deadline.map { deadline in
      time.alarm(at: deadline.time, on: engine.eventLoop) {
        self.end(self.request.deadlineExceeded(by: time, "while waiting for \(self.awaited())"))
      }
    }
    let result: Result<any ByteCall, GRPCStatus>
    do throws(GRPCStatus) {
      result = .success(try await prepare())
    } catch {
      result = .failure(error)
    }
    alarm?.cancel()
    switch result {
    case .success(let call): proceed(call)
    case .failure(let status): end(status)
    }
  }

  private func proceed(_ call: any ByteCall) {
    let isWanted = phase.withLock { phase in
      guard case .preparing = phase else { return false }
      phase = .live(call)
      return true
    }
    if isWanted { call.start() }
  }

  func poll(until isReady: () -> Bool) {
    if case .live(let call) = phase.withLock({ $0 }) { call.poll(until: isReady) }
  }

  func cancel(_ status: GRPCStatus) {
    let live: (any ByteCall)? = phase.withLock { phase in
      switch phase {
      case .live(let call):
        return call
      case .idle:
        // The status is reported when the call starts.
        phase = .over(status)
      case .preparing, .over:
        break
      }
      return nil
    }
    if let live { live.cancel(status) } else { end(status) }
  }

  /// Ends the call while it is being prepared.
  private func end(_ status: GRPCStatus) {
    let task: Task<Void, Never>? = phase.withLock { phase in
      guard case .preparing(let task) = phase else { return nil }
      phase = .over(status)
      return task
    }
    guard let task else { return }
    task.cancel()
    close(status)
  }

  private func close(_ status: GRPCStatus) {
    if case .stream(let pipe) = request.body { pipe.abort(status) }
    engine.eventLoop.execute {
      // An attempt of a call that may make others does not end it.
      if self.request.servers == nil { self.request.traceEnd(status) }
      self.receiver.close(status, trailers: HPACKHeaders())
    }
  }
}
