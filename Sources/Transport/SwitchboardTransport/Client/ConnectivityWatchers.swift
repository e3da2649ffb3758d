import SwitchboardBalancing
import Synchronization

/// The watchers of a channel's state.
struct ConnectivityWatchers: Sendable {
  private(set) var current = ConnectivityState.idle
  private var continuations: [Int: AsyncStream<ConnectivityState>.Continuation] = [:]
  private var nextID = 0

  mutating func add(_ continuation: AsyncStream<ConnectivityState>.Continuation) -> Int {
    nextID += 1
    continuations[nextID] = continuation
    continuation.yield(current)
    return nextID
  }

  mutating func remove(_ id: Int) { continuations[id] = nil }

  /// Returns the watchers to notify after the lock is released, because a watcher removes itself at the end.
  mutating func change(to state: ConnectivityState) -> [AsyncStream<ConnectivityState>.Continuation] {
    current = state
    return Array(continuations.values)
  }
}

extension HTTP2ClientTransport {
  /// The current state and each later one. A slow reader gets the latest states, not all.
  package var connectivity: AsyncStream<ConnectivityState> {
    AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
      let (id, current) = watchers.withLock { ($0.add(continuation), $0.current) }
      continuation.onTermination = { [weak self] _ in
        self?.watchers.withLock { $0.remove(id) }
      }
      if current == .shutdown { continuation.finish() }
    }
  }
}
