import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText
import Synchronization

/// How many calls go to each cluster now, from all channels of a process (gRFC A32).
final class CallCounters: Sendable {
  static let ofProcess = CallCounters()

  private struct Key: Hashable {
    let cluster: ExactText
    let service: ExactText
  }

  private struct Entry {
    weak var counter: CallCounter?
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    /// How many there may be before those are forgotten that nobody uses.
    var room = CallCounters.usualRoom
  }

  private static let usualRoom = 1024
  private let state = Locked(State())

  init() {}

  /// The counter of a cluster, for as long as somebody has it. `service` is the name of its endpoints, if that is another.
  func counter(_ cluster: String, _ service: String) -> CallCounter {
    let key = Key(cluster: ExactText(cluster), service: ExactText(service))
    return state.withLock { state in
      if let known = state.entries[key]?.counter { return known }
      if state.entries.count >= state.room {
        state.entries = state.entries.filter { $0.value.counter != nil }
        state.room = max(Self.usualRoom, 2 * state.entries.count)
      }
      let made = CallCounter()
      state.entries[key] = Entry(counter: made)
      return made
    }
  }
}

/// Counts the calls of a cluster that have a server.
final class CallCounter: LoadTracker, Sendable {
  private let count = Atomic(0)

  /// Channels that ask at the same time may all be told that there is room for one more.
  func hasRoom(below limit: Int) -> Bool { count.load(ordering: .relaxed) < limit }
  var wantsLoadReport: Bool { false }

  /// Counts one more call. Returns what follows it, for the policy's own `tracker` too.
  func track(_ tracker: (any LoadTracker)?) -> any LoadTracker {
    count.add(1, ordering: .relaxed)
    return tracker.map { LoadTrackerPair(self, $0) } ?? self
  }

  func callEnded(_ outcome: CallOutcome) { count.subtract(1, ordering: .relaxed) }
}
