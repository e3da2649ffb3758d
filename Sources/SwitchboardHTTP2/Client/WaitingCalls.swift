import SwitchboardCall

/// Calls that wait for a server, or for a connection with room, in order. Calls that end while they wait stay in the queue until their
/// turn comes, there are many of them, or no other calls wait.
struct WaitingCalls {
  private var queue = Queue<ClientCallStream>()
  private var ended = 0

  /// The number of calls that still wait.
  var count: Int { queue.count - ended }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ call: ClientCallStream) {
    call.phase = .waiting
    queue.append(call)
  }

  /// Removes and returns the call that has waited longest.
  mutating func popFirst() -> ClientCallStream? {
    while let call = queue.popFirst() {
      guard call.isWaiting else {
        ended -= 1
        continue
      }
      call.phase = .started
      call.tracer?.placementWasDelayed()
      return call
    }
    return nil
  }

  /// Called when a call in the queue has ended.
  mutating func callDidEnd() {
    ended += 1
    guard isEmpty || ended > 32 && ended * 2 > queue.count else { return }
    var kept = Queue<ClientCallStream>()
    while let call = queue.popFirst() {
      if call.isWaiting { kept.append(call) }
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
