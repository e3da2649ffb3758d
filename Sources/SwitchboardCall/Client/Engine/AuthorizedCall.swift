/// A call that starts once its token has been fetched.
final class AuthorizedCall: ByteCall {
  /// ```
  ///   idle ──start──> fetching ──token──> live
  /// ```
  /// Cancellation leads from idle and fetching to over; so do the deadline and a failure from fetching.
  private enum Phase: Sendable {
    case idle
    case fetching(Task<Void, Never>)
    case live(any ByteCall)
    case over(GRPCStatus)
  }

  private let provider: any AuthTokenProvider
  private let request: CallRequest
  private let receiver: any ResponseReceiver
  private let engine: CallEngine
  private let plan: RepetitionPlan
  private let phase = Locked(Phase.idle)

  init(
    _ provider: any AuthTokenProvider,
    _ request: CallRequest,
    _ receiver: any ResponseReceiver,
    _ engine: CallEngine,
    _ plan: RepetitionPlan
  ) {
    self.provider = provider
    self.request = request
    self.receiver = receiver
    self.engine = engine
    self.plan = plan
  }

  func start() {
    let cancelled: GRPCStatus? = phase.withLock { phase in
      if case .over(let status) = phase { return status }
      guard case .idle = phase else { return nil }
      phase = .fetching(Task(executorPreference: engine.eventLoop) { await self.fetch() })
      return nil
    }
    if let cancelled { close(cancelled) }
  }

  private func fetch() async {
    let time = engine.environment.time
    let alarm = request.deadline.map { deadline in
      time.alarm(at: deadline.time, on: engine.eventLoop) { self.end(.deadlinePassed) }
    }
    let result: Result<String?, GRPCStatus>
    do {
      result = .success(try await provider.token())
    } catch {
      result = .failure(.unauthorized(error))
    }
    alarm?.cancel()
    switch result {
    case .success(let token): goOn(with: token)
    case .failure(let status): end(status)
    }
  }

  private func goOn(with token: String?) {
    var request = request
    if let token {
      var options = request.options ?? CallOptions()
      options.authorize(token)
      request.options = options
    }
    let call = engine.makeCall(request, receiver, plan)
    let isWanted = phase.withLock { phase in
      guard case .fetching = phase else { return false }
      phase = .live(call)
      return true
    }
    if isWanted { call.start() }
  }

  func cancel(_ status: GRPCStatus) {
    let live: (any ByteCall)? = phase.withLock { phase in
      switch phase {
      case .live(let call):
        return call
      case .idle:
        // Reported when the call starts.
        phase = .over(status)
      case .fetching, .over:
        break
      }
      return nil
    }
    if let live { live.cancel(status) } else { end(status) }
  }

  /// Ends the call while its token is being fetched.
  private func end(_ status: GRPCStatus) {
    let task: Task<Void, Never>? = phase.withLock { phase in
      guard case .fetching(let task) = phase else { return nil }
      phase = .over(status)
      return task
    }
    guard let task else { return }
    task.cancel()
    close(status)
  }

  private func close(_ status: GRPCStatus) {
    if case .stream(let pipe) = request.body { pipe.abort(status) }
    engine.eventLoop.execute { self.receiver.close(status, trailers: HPACKHeaders()) }
  }
}

extension GRPCStatus {
  fileprivate static func unauthorized(_ error: any Error) -> GRPCStatus {
    if let known = error as? any GRPCStatusTransformable { return known.makeGRPCStatus() }
    return GRPCStatus(code: .unauthenticated, message: "could not get a token: \(error)")
  }
}
