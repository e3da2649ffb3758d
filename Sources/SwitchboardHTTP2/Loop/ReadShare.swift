/// How many bytes one socket may bring in a turn of its loop, so that the others have their turn.
///
/// A socket that fills its share gets twice as much in the next turn, as long as taking it in is quick. Where it is not, as
/// with messages that decompress to a thousand times their size, it gets half as much, down to a few kilobytes; what is left
/// waits in the system, and stops the peer.
struct ReadShare {
  static let most = 256 * 1024
  /// A connection that is new has not shown yet that what it brings is quick.
  static let first = least
  /// As much as is read whatever it takes.
  static let least = 4 * 1024
  /// For longer than this no socket should hold its loop.
  static let patience: UInt64 = 250_000

  private var turn: UInt64 = 0
  private var size = Self.first
  private var left = Self.first

  /// How many bytes may be read now, of as many as there is memory for: zero when the socket has had its share.
  mutating func next(in turn: UInt64, of memory: Int) -> Int {
    if turn != self.turn {
      self.turn = turn
      left = size
    }
    return min(left, memory)
  }

  /// So many bytes were read, and taking them in took so many nanoseconds.
  mutating func spend(_ count: Int, taking time: UInt64) {
    left -= count
    if time > Self.patience {
      // By half, since the thread may only have had to wait for a processor.
      size = max(Self.least, count / 2)
      left = 0
    } else if left <= 0 {
      size = min(Self.most, 2 * size)
    }
  }
}
