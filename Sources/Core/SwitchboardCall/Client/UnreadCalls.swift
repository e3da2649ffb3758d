/// The calls of a channel whose responses go to handlers that ask for them. The transport may have ended such a call while
/// its responses still wait to be asked for: its deadline and the channel's shutdown end it here.
package final class UnreadCalls: Sendable {
  private struct State: Sendable {
    var count = 0
    /// Those that wait until there are no calls.
    var waiters: [CheckedContinuation<Void, Never>] = []

    /// The waiters, if there are no calls.
    mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
      guard count == 0 else { return [] }
      defer { waiters = [] }
      return waiters
    }
  }

  private let state = Locked(State())
  private let shutdown = ShutdownSignal()

  /// Calls `end` when the channel is shut down; now, if it has been. Returns what `remove` needs.
  package func add(_ end: @escaping @Sendable () -> Void) -> Int {
    state.withLock { $0.count += 1 }
    return shutdown.add(end)
  }

  package func remove(_ number: Int) {
    shutdown.remove(number)
    let waiters = state.withLock { state in
      state.count -= 1
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Ends those that are left at `time`, and returns when there are none. Those that are added later end at once.
  func end(at time: ContinuousClock.Instant, by clock: any CallTime, on loop: any EventLoop) async {
    if state.withLock({ $0.count > 0 }) {
      let alarm = clock.alarm(at: time, on: loop) { [shutdown] in shutdown.begin() }
      await none()
      alarm.cancel()
    }
    shutdown.begin()
  }

  /// Returns when there are no calls.
  private func none() async {
    await withCheckedContinuation { continuation in
      let waiters = state.withLock { state in
        state.waiters.append(continuation)
        return state.takeWaiters()
      }
      for waiter in waiters { waiter.resume() }
    }
  }
}

extension MethodCall {
  /// What ends this call while its responses are not asked for.
  @usableFromInline package var unreadLimits: UnreadLimits {
    UnreadLimits(channel.engine, channel.unread, method.descriptor, options)
  }
}

/// What ends a call whose responses are not asked for.
@usableFromInline
package struct UnreadLimits: Sendable {
  private let engine: CallEngine
  /// The calls of its channel.
  package let calls: UnreadCalls
  private let method: MethodDescriptor
  private let options: CallOptions?

  fileprivate init(
    _ engine: CallEngine,
    _ calls: UnreadCalls,
    _ method: MethodDescriptor,
    _ options: CallOptions?
  ) {
    self.engine = engine
    self.calls = calls
    self.method = method
    self.options = options
  }

  /// Passes on the status of a call whose deadline has passed, once it has, unless the task is cancelled first. `nil` if it
  /// has no deadline.
  package func atDeadline(
    _ clause: String,
    _ end: @escaping @Sendable (GRPCStatus) async -> Void
  ) -> Task<Void, Never>? {
    guard let deadline = engine.deadline(of: method, options) else { return nil }
    let time = engine.environment.time
    return Task(executorPreference: engine.eventLoop) { [engine, options] in
      guard (try? await time.sleep(until: deadline.time, on: engine.eventLoop)) != nil else { return }
      await end(deadline.exceeded(by: time, chosen: options?.timeout, clause))
    }
  }
}
