/// An action at a time on a loop. Starting the timer again moves it.
package final class LoopTimer {
  package fileprivate(set) var deadline: UInt64 = 0
  fileprivate var position = -1
  /// Whether the timer has a precision of microseconds, if the system supports it, instead of being up to a millisecond
  /// late. The loop then polls during the last `Loop.preciseWait`, which uses that much processor time.
  let isPrecise: Bool
  let action: () -> Void

  package init(isPrecise: Bool = false, _ action: @escaping () -> Void) {
    self.isPrecise = isPrecise
    self.action = action
  }

  var isScheduled: Bool { position >= 0 }
}

/// The timers of one loop, the earliest first: a binary heap whose entries know their index, so that cancelling a timer
/// releases its memory at once.
struct TimerHeap {
  private var timers: [LoopTimer] = []
  private var preciseCount = 0

  /// Whether any of them is precise.
  var hasPrecise: Bool { preciseCount > 0 }

  var earliest: UInt64? { timers.first?.deadline }

  mutating func schedule(_ timer: LoopTimer, at deadline: UInt64) {
    cancel(timer)
    timer.deadline = deadline
    timer.position = timers.count
    timers.append(timer)
    if timer.isPrecise { preciseCount += 1 }
    siftUp(timer.position)
  }

  mutating func cancel(_ timer: LoopTimer) {
    let position = timer.position
    guard position >= 0 else { return }
    timer.position = -1
    if timer.isPrecise { preciseCount -= 1 }
    let last = timers.removeLast()
    guard last !== timer else { return }
    put(last, at: position)
    siftUp(position)
    siftDown(last.position)
  }

  /// Cancels all timers, and returns them to be released.
  mutating func takeAll() -> [LoopTimer] {
    defer {
      timers = []
      preciseCount = 0
    }
    for timer in timers { timer.position = -1 }
    return timers
  }

  mutating func popExpired(at now: UInt64) -> LoopTimer? {
    guard let first = timers.first, first.deadline <= now else { return nil }
    cancel(first)
    return first
  }

  private mutating func put(_ timer: LoopTimer, at position: Int) {
    timers[position] = timer
    timer.position = position
  }

  private mutating func siftUp(_ start: Int) {
    let timer = timers[start]
    var position = start
    while position > 0 {
      let parent = (position - 1) / 2
      guard timer.deadline < timers[parent].deadline else { break }
      put(timers[parent], at: position)
      position = parent
    }
    put(timer, at: position)
  }

  private mutating func siftDown(_ start: Int) {
    let timer = timers[start]
    var position = start
    while true {
      var child = 2 * position + 1
      guard child < timers.count else { break }
      if child + 1 < timers.count, timers[child + 1].deadline < timers[child].deadline { child += 1 }
      guard timers[child].deadline < timer.deadline else { break }
      put(timers[child], at: position)
      position = child
    }
    put(timer, at: position)
  }
}
