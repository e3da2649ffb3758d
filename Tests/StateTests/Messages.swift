import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The messages that one side of a call sends: they go out in pieces of any size, and this knows which are complete.
struct MessageSender {
  private var bytes: [UInt8] = []
  private var sent = 0
  /// The offset at which each message ends.
  private var ends: [(end: Int, message: [UInt8])] = []
  private(set) var whole: [[UInt8]] = []
  /// The bytes from here on contain an invalid prefix.
  private var brokenFrom: Int?

  var hasMore: Bool { sent < bytes.count }
  /// The bytes sent end within a message.
  var isInside: Bool { sent > (ends.last { $0.end <= sent }?.end ?? 0) }
  /// The bytes sent contain an invalid message.
  var isBroken: Bool { brokenFrom.map { sent >= $0 } ?? false }
  var mayCompose: Bool { brokenFrom == nil }

  /// Above 64 KiB, so that compressed messages of this size are decompressed on other threads.
  static let sizeLimit = 70_000

  /// Generates the next message.
  mutating func compose(_ number: Int, compresses: Bool, _ dice: inout Dice) {
    if dice.oneIn(40) { return breakOff(&dice) }
    let isLarge = compresses && dice.oneIn(30)
    let size = isLarge ? Self.sizeLimit : dice.pick([0, 0, 1, 2, 5, 30, 200])
    let message = (0..<size).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0 / 40) }
    if compresses, isLarge || dice.oneIn(2) {
      let packed = Compressor.compress(MessageBuffer(message), .gzip)
      withExtendedLifetime(packed) { bytes += packed.unsafeFramedBytes }
    } else {
      bytes += [0] + Frame.number(UInt32(size)) + message
    }
    ends.append((bytes.count, message))
  }

  /// Generates a message that is sent as it is, without a prefix, and counts it as sent.
  mutating func composeBare(_ dice: inout Dice) -> [UInt8] {
    let message = [UInt8](repeating: UInt8(dice.below(256)), count: dice.pick([0, 1, 30, 200]))
    whole.append(message)
    return message
  }

  /// A length above the limit, unknown flags, or an unexpected compressed message.
  private mutating func breakOff(_ dice: inout Dice) {
    bytes += dice.pick([[0, 0, 255, 0, 0], [7, 0, 0, 0, 0], [1, 0, 0, 0, 2, 9, 9]])
    // A prefix is checked when it is complete, and a compressed message when all of it is.
    brokenFrom = bytes.count
  }

  mutating func take(_ count: Int) -> [UInt8] {
    let start = sent
    sent += min(bytes.count - sent, count)
    while whole.count < ends.count, ends[whole.count].end <= sent { whole.append(ends[whole.count].message) }
    return Array(bytes[start..<sent])
  }
}

/// The messages that one side of a call receives.
struct MessageReceiver {
  private var bytes: [UInt8] = []
  private(set) var count = 0

  var isInside: Bool { !bytes.isEmpty }

  /// The messages that are complete now, in order.
  mutating func take(_ more: [UInt8]) throws(Violation) -> [[UInt8]] {
    var messages: [[UInt8]] = []
    bytes += more
    while bytes.count >= 5 {
      try Violation.unless(bytes[0] == 0, "a message has the flags \(bytes[0])")
      let length = bytes[1..<5].reduce(0) { $0 << 8 | Int($1) }
      guard bytes.count >= 5 + length else { break }
      messages.append(Array(bytes[5..<5 + length]))
      bytes.removeFirst(5 + length)
    }
    count += messages.count
    return messages
  }
}
