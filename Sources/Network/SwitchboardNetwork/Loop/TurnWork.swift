import CLibuv
import SwitchboardCall

/// How long a loop works on messages before it looks after its sockets again.
///
/// The time that a message takes depends on what is in it, which may be one string or half as many submessages, and on
/// its handler, which may fill a buffer with responses. So time is what is limited, but the clock is read only after each
/// unit of bytes, because small messages take less time than reading it. The first units are smaller, so that a few
/// messages that take long show soon; the only message of a turn costs no look at the clock.
struct TurnWork {
  /// In the worst case that is known, submessages without content, a unit takes some two milliseconds to decode.
  static let unit = MessageBuffer.largeByteCount
  /// What each message counts in addition to its bytes, so that the clock is read after sixteen small ones.
  static let messageCost = 1024
  private static let firstUnit = messageCost * 3 / 2

  /// The time for work after each poll, in nanoseconds: as much while events are processed, and as much afterwards.
  var limit: UInt64 = 1_000_000
  /// Whether the time is used up: what is left waits until the sockets were polled.
  private(set) var isOver = false
  /// The largest number of bytes that were worked on between two polls.
  private(set) var most = 0
  private var unit = Self.firstUnit
  private var left = Self.firstUnit
  /// `nil` until the clock is read for the first time.
  private var end: UInt64?
  private var done = 0

  /// Starts the time for work: by `end`, or else at the first unit.
  mutating func begin(until end: UInt64? = nil) {
    most = max(most, done)
    self.end = end
    unit = Self.firstUnit
    left = unit
    isOver = false
    done = 0
  }

  /// Counts a message that is about to be worked on.
  @inline(__always)
  mutating func add(message byteCount: Int) { add(byteCount + Self.messageCost) }

  /// Counts bytes that are about to be worked on, or were.
  @inline(__always)
  mutating func add(_ byteCount: Int) {
    left -= byteCount
    done += byteCount
    if left <= 0 { look() }
  }

  @inline(never)
  private mutating func look() {
    unit = min(2 * unit, Self.unit)
    left = unit
    let now = uv_hrtime()
    if let end { isOver = isOver || now >= end } else { end = now.addingSaturated(limit) }
  }
}

extension TurnWork {
  /// Whether the loop looks at the clock after so many of its jobs: after the first, the second, the fourth and so on, and
  /// then after every sixteenth. After the last, it does so anyway.
  static func looks(after index: Int, of count: Int) -> Bool {
    index < count && (index & 15 == 0 || index < 16 && index & (index - 1) == 0)
  }
}

extension Loop {
  /// The smallest message whose reading is counted. Many smaller ones are read while a loop looks at the clock.
  private static let leastRead = 256

  /// Counts a message that is about to be worked on.
  package func count(message byteCount: Int) { work.add(message: byteCount) }

  /// Whether the time for work is used up: what is left waits until the sockets were polled.
  package var hasWorkedEnough: Bool { work.isOver }

  /// Counts a message of a stream, if it was read on this loop and is decoded there.
  package func countRead(_ byteCount: Int) {
    guard byteCount >= Self.leastRead, inEventLoop else { return }
    // The loop only copies large ones.
    work.add(min(byteCount, TurnWork.unit))
  }
}
