/// What the resolution of a channel's name says about calls: the service config, and what decides about each call.
@usableFromInline package final class ResolvedConfig: Sendable {
  package struct Settings: Sendable {
    /// `nil` if there is none.
    package var config: ServiceConfig?
    package var router: (any CallRouter)?

    package init(_ config: ServiceConfig?, _ router: (any CallRouter)? = nil) {
      self.config = config
      self.router = router
    }
  }

  private struct Waiter {
    let continuation: CheckedContinuation<Result<Settings, GRPCStatus>, Never>
    /// Whether it stops waiting when the resolution fails, but not for good.
    let failsFast: Bool
  }

  private struct State {
    var known: Settings?
    /// What the resolution waits for, if the resolver says it.
    var awaited: String?
    /// The latest failure to resolve the name, unless it was resolved since.
    var failure: (status: GRPCStatus, isFinal: Bool)?
    var waiters: [Int: Waiter] = [:]
    var lastID = 0
    var awaitedChanged: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  /// Whether calls wait after a failure, unless their options say otherwise.
  let callsWait: Bool

  /// Whether no call is made before there is a router, whatever its options say.
  let routesCalls: Bool

  package init(callsWait: Bool = false, routesCalls: Bool = false) {
    self.callsWait = callsWait
    self.routesCalls = routesCalls
  }

  /// `nil` before the name was resolved for the first time.
  package var known: Settings? { state.withLock { $0.known } }

  /// How far the resolution has come, for messages of calls that wait for it.
  var progress: String {
    let (awaited, failure) = state.withLock { ($0.awaited, $0.failure?.status) }
    let words = [
      awaited.map { "which needs \($0)" }, failure.map { "last error: \($0.message ?? "\($0.code)")" },
    ].compactMap(\.self)
    return words.isEmpty ? "" : " (\(words.joined(separator: "; ")))"
  }

  /// Whether calls wait for it.
  package var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty } }

  /// Calls `action`, on any thread, each time after `isAwaited` has changed.
  package func observe(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.awaitedChanged = action }
  }

  /// Changes the state. Returns the action to call afterwards.
  private func change<Result>(_ body: (inout State) -> Result) -> (Result, notify: (@Sendable () -> Void)?) {
    state.withLock { state in
      let wasAwaited = !state.waiters.isEmpty
      let result = body(&state)
      return (result, state.waiters.isEmpty == wasAwaited ? state.awaitedChanged : nil)
    }
  }

  /// The name was resolved.
  package func resolved(_ settings: Settings) {
    let (waiters, notify) = change { state in
      state.known = settings
      (state.failure, state.awaited) = (nil, nil)
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.continuation.resume(returning: .success(settings)) }
    notify?()
  }

  /// The resolution waits for this.
  package func awaits(_ what: String) { state.withLock { $0.awaited = what } }

  /// The name is not resolved any more: calls wait until it is again.
  package func forget() { state.withLock { $0.known = nil } }

  /// The name cannot be resolved, at least for now.
  package func failed(_ status: GRPCStatus, isFinal: Bool) {
    let (waiters, notify) = change { state in
      (state.failure, state.awaited) = ((status, isFinal), nil)
      let ended = state.waiters.filter { isFinal || $0.value.failsFast }
      for id in ended.keys { state.waiters[id] = nil }
      return ended.values
    }
    for waiter in waiters { waiter.continuation.resume(returning: .failure(status)) }
    notify?()
  }

  /// Forgets a failure that is not final: the next call that needs the name has it resolved again.
  package func forgetFailure() {
    state.withLock { if $0.failure?.isFinal == false { $0.failure = nil } }
  }

  /// Waits for the resolution. Throws if it fails (for good, unless `failsFast`) or if the task is cancelled.
  func wait(failsFast: Bool) async throws(GRPCStatus) -> Settings {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (known, notify) = change { state -> Result<Settings, GRPCStatus>? in
          if let known = state.known { return .success(known) }
          if let failure = state.failure, failure.isFinal || failsFast { return .failure(failure.status) }
          if Task.isCancelled { return .failure(.callEnded) }
          state.waiters[id] = Waiter(continuation: continuation, failsFast: failsFast)
          return nil
        }
        if let known { continuation.resume(returning: known) }
        notify?()
      }
    } onCancel: {
      let (waiter, notify) = change { $0.waiters.removeValue(forKey: id) }
      waiter?.continuation.resume(returning: .failure(.callEnded))
      notify?()
    }
    return try result.get()
  }
}
