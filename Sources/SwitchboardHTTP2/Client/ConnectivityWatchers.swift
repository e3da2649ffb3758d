import Synchronization

/// Those who follow a channel's state.
struct ConnectivityWatchers: Sendable {
  private var current = ConnectivityState.idle
  private var continuations: [Int: AsyncStream<ConnectivityState>.Continuation] = [:]
  private var nextID = 0

  mutating func add(_ continuation: AsyncStream<ConnectivityState>.Continuation) -> Int {
    nextID += 1
    continuations[nextID] = continuation
    continuation.yield(current)
    return nextID
  }

  mutating func remove(_ id: Int) { continuations[id] = nil }

  mutating func tell(_ state: ConnectivityState) {
    current = state
    for continuation in continuations.values {
      continuation.yield(state)
      if state == .shutdown { continuation.finish() }
    }
  }
}

extension ClientChannel {
  /// The state now and each one after it. A reader that is slow sees the latest states, not all.
  public var connectivity: AsyncStream<ConnectivityState> {
    AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
      let id = watchers.withLock { $0.add(continuation) }
      continuation.onTermination = { [weak self] _ in
        self?.watchers.withLock { $0.remove(id) }
      }
    }
  }
}
