/// The size of the header block that is being received, as HTTP/2 counts it, and what it costs the peer: bytes above the
/// limit are ignored, but they still have to be decoded.
///
/// ```
///   free ──above the limit──> charged, a kilobyte at a time ──four times the limit──> too large to go on
/// ```
struct HeaderBlockSize {
  private var byteCount = 0
  private var charged = 0
  private let free: Int
  private let limit: Int

  private static let leastLimit = 256 * 1024

  /// This many bytes cost the peer as much as a frame that serves no call.
  private static let bytesPerCharge = 1024

  init(free: Int) {
    self.free = free
    limit = max(Self.leastLimit, 4 * free)
  }

  /// Another block begins.
  mutating func begin() {
    byteCount = 0
    charged = 0
  }

  /// Counts a field. Returns `false` if the block is not free anymore.
  @inline(__always)
  mutating func add(_ count: Int) -> Bool {
    byteCount += count
    return byteCount <= free
  }

  var isTooLarge: Bool { byteCount > limit }

  /// Whether the peer has to pay once more.
  mutating func takeCharge() -> Bool {
    guard charged < (byteCount - free) / Self.bytesPerCharge else { return false }
    charged += 1
    return true
  }

  /// Whether nothing would be charged for a block that has this much more.
  func isFree(with count: Int) -> Bool { byteCount + count <= free }
}
