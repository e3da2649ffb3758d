/// An object with bytes to write at the end of a turn.
package protocol Flushable: AnyObject {
  /// Writes them. The loop calls it at the end of the turn, when its list no longer has the object.
  func flush()
}

/// The objects of a loop that have bytes to write.
///
/// An object that has written its share of a turn and has more to write continues after the next poll of the sockets,
/// so that the others read and write in between.
struct FlushList {
  private var current: [any Flushable] = []
  private var postponed: [any Flushable] = []

  /// Whether anything is to be written in this turn.
  var isEmpty: Bool { current.isEmpty }
  var hasPostponed: Bool { !postponed.isEmpty }

  mutating func add(_ object: any Flushable) { current.append(object) }

  mutating func postpone(_ object: any Flushable) { postponed.append(object) }

  /// Appends the postponed objects to those that have had something to write since the poll.
  mutating func beginTurn() {
    guard hasPostponed else { return }
    current += postponed
    postponed.removeAll(keepingCapacity: true)
  }

  mutating func take() -> [any Flushable] {
    var taken: [any Flushable] = []
    swap(&taken, &current)
    return taken
  }

  /// Reuses the memory of the array that `take` returned.
  mutating func recycle(_ taken: consuming [any Flushable]) {
    guard current.isEmpty else { return }
    taken.removeAll(keepingCapacity: true)
    current = taken
  }
}
