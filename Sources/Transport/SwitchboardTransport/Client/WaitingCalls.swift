import SwitchboardCall

/// Calls that wait for a server or for a connection with room, in order. Calls that end while they wait stay in the
/// queue until their turn comes, until there are many of them, or until no other calls wait.
struct WaitingCalls {
  private struct Entry {
    let call: ClientCallStream
    /// Whether the call waits for its channel's name to be resolved.
    let awaitsName: Bool
  }

  private var queue = Queue<Entry>()
  private var ended = 0
  /// Whether any of them may wait for the name.
  private var awaitsName = false

  /// The number of calls that still wait.
  var count: Int { queue.count - ended }
  var isEmpty: Bool { count == 0 }

  /// Those that still wait.
  var all: [ClientCallStream] {
    (0..<queue.count).compactMap { queue[$0]?.call }.filter(\.isWaiting)
  }

  mutating func append(_ call: ClientCallStream, awaitingName awaitsName: Bool = false) {
    call.phase = .waiting
    queue.append(Entry(call: call, awaitsName: awaitsName))
    if awaitsName { self.awaitsName = true }
  }

  /// The name was resolved. Most calls continue to wait for a connection.
  mutating func nameWasResolved() {
    guard awaitsName else { return }
    awaitsName = false
    var resolved = Queue<Entry>()
    while let entry = queue.popFirst() {
      if entry.awaitsName, entry.call.isWaiting { entry.call.request.tracer?.resolutionWasDelayed() }
      resolved.append(Entry(call: entry.call, awaitsName: false))
    }
    queue = resolved
  }

  /// Removes and returns the call that has waited longest.
  mutating func popFirst() -> ClientCallStream? {
    while let entry = queue.popFirst() {
      guard entry.call.isWaiting else {
        ended -= 1
        continue
      }
      entry.call.phase = .started
      // Nothing was picked for a call whose name could not be resolved.
      if !entry.awaitsName { entry.call.trace.tracer?.pickWasDelayed() }
      return entry.call
    }
    return nil
  }

  /// Called when a call in the queue has ended.
  mutating func callDidEnd() {
    ended += 1
    guard isEmpty || ended > 32 && ended * 2 > queue.count else { return }
    var kept = Queue<Entry>()
    while let entry = queue.popFirst() {
      if entry.call.isWaiting { kept.append(entry) }
    }
    queue = kept
    ended = 0
  }

  /// Removes and returns the calls that still wait.
  mutating func take() -> [ClientCallStream] {
    var taken: [ClientCallStream] = []
    while let call = popFirst() { taken.append(call) }
    self = WaitingCalls()
    return taken
  }
}
