/// Limits how many bytes one socket may read in a turn of its loop, so that others get their turn.
///
/// If a socket uses its full share and processing it is fast, the share doubles for the next turn. If processing is
/// slow, for example because messages decompress to a thousand times their size, the share is halved, down to a few
/// kilobytes; the rest stays in the system's buffer, which slows the peer down.
struct ReadShare {
  static let most = 256 * 1024
  /// A new connection has not shown yet that its data can be processed fast.
  static let first = least
  /// The minimum share, however slow processing is.
  static let least = 4 * 1024
  /// The maximum time that one socket should keep its loop busy, in nanoseconds.
  static let longestTime: UInt64 = 250_000

  private var turn: UInt64 = 0
  private var size = Self.first
  private var left = Self.first

  /// The number of bytes to read now, at most `memory`: zero if the socket has used its share.
  mutating func next(in turn: UInt64, of memory: Int) -> Int {
    if turn != self.turn {
      self.turn = turn
      left = size
    }
    return min(left, memory)
  }

  /// Records that `count` bytes were read and processed in `time` nanoseconds.
  mutating func spend(_ count: Int, taking time: UInt64) {
    left -= count
    if time > Self.longestTime {
      // Only halved, because the thread may have been waiting for a processor.
      size = max(Self.least, count / 2)
      left = 0
    } else if left <= 0 {
      size = min(Self.most, 2 * size)
    }
  }
}
