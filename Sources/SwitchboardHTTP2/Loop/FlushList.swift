/// An object with bytes to write at the end of a turn.
protocol Flushable: AnyObject {
  /// Called by the loop, whose list no longer has it.
  func flush()
}

/// What has bytes to write on a loop.
///
/// An object that has written its share of a turn and has more comes again after the sockets were polled. So however
/// much one of them has to write, the others read and write in between.
struct FlushList {
  private var current: [any Flushable] = []
  private var postponed: [any Flushable] = []

  /// Whether anything is to be written in this turn.
  var isEmpty: Bool { current.isEmpty }
  var hasPostponed: Bool { !postponed.isEmpty }

  mutating func add(_ object: any Flushable) { current.append(object) }

  mutating func postpone(_ object: any Flushable) { postponed.append(object) }

  /// Lets the objects that were postponed follow those that have something since the poll.
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

  /// Keeps the memory of what was taken.
  mutating func recycle(_ taken: consuming [any Flushable]) {
    guard current.isEmpty else { return }
    taken.removeAll(keepingCapacity: true)
    current = taken
  }
}
