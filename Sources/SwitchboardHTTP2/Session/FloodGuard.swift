import SwitchboardCall

/// Looks at the heads of the frames that come in, before nghttp2 does: for floods of frames that cost a
/// peer little and do nothing for a call, and for what nghttp2 passes over without a word.
///
/// Such frames are paid for. A peer starts with an allowance, gets a quarter of it back each second, and
/// earns some with each frame that is sent for a call: that is what brings window updates and resets from a
/// peer that does no harm.
struct FloodGuard {
  struct Finding {
    let offence: Session.Offence
    /// Where the frame begins, in what was scanned.
    let offset: Int
  }

  private typealias Kind = FrameKind

  private let isServer: Bool
  private let allowance: Int
  private var credit: Int
  private var refilledAt: UInt64 = 0

  /// How much of the frame at hand, or of the client's greeting, is still to come.
  private var payloadLeft: Int
  /// The head of a frame as far as it has come, when it comes in pieces.
  private var head: (UInt64, UInt8) = (0, 0)
  private var headCount = 0
  private var kind: Kind?
  private var headersAreOpen = false
  private var continuations = 0
  /// The streams that the peer has most lately ended.
  private var ended = SIMD8<UInt32>(repeating: .max)
  private var endedCount = 0
  /// The highest among all that it has ended: a stream above it needs no search.
  private var highestEnded: UInt32 = 0
  /// The highest stream that a client has opened, and those that it left out last on its way there.
  private var highest: UInt32 = 0
  private var leftOut: Range<UInt32> = 0..<0

  private static let headSize = 9
  private static let greetingSize = 24
  /// As many as nghttp2 itself allows: more than headers within the limits need.
  private static let continuationLimit = 8

  init(of role: Session.Role, allowance: Int) {
    isServer = role == .server
    // Whoever wants no limit says so with the largest number there is, to which nothing can be added.
    self.allowance = min(allowance, Int(Int32.max))
    credit = self.allowance
    payloadLeft = role == .server ? Self.greetingSize : 0
  }

  /// Headers have begun whose last byte is still to come.
  var isInsideHeaders: Bool {
    headersAreOpen || payloadLeft > 0 && (kind == .headers || kind == .continuation)
  }

  /// The first frame that must not reach nghttp2, if there is one.
  mutating func scan(_ bytes: UnsafeRawBufferPointer, now: UInt64) -> Finding? {
    var offset = 0
    while offset < bytes.count {
      if payloadLeft > 0 {
        let skipped = min(payloadLeft, bytes.count - offset)
        payloadLeft -= skipped
        offset += skipped
        continue
      }
      let start = offset
      guard let frame = nextHead(bytes, &offset) else { return nil }
      if let offence = judge(frame, now) { return Finding(offence: offence, offset: start) }
    }
    return nil
  }

  fileprivate struct Head {
    let length: Int
    let type: UInt8
    let flags: UInt8
    let stream: UInt32

    var endsStream: Bool { flags & 1 != 0 }
    var endsHeaders: Bool { flags & 4 != 0 }
  }

  private mutating func nextHead(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> Head? {
    if headCount == 0, bytes.count - offset >= Self.headSize {
      defer { offset += Self.headSize }
      return Self.parse(bytes, at: offset)
    }
    let taken = min(Self.headSize - headCount, bytes.count - offset)
    withUnsafeMutableBytes(of: &head) { target in
      for index in 0..<taken { target[headCount + index] = bytes[offset + index] }
    }
    offset += taken
    headCount += taken
    guard headCount == Self.headSize else { return nil }
    headCount = 0
    return withUnsafeBytes(of: head) { Self.parse($0, at: 0) }
  }

  private static func parse(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Head {
    let first = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    return Head(
      length: Int(first >> 40),
      type: UInt8(truncatingIfNeeded: first >> 32),
      flags: UInt8(truncatingIfNeeded: first >> 24),
      stream: UInt32(truncatingIfNeeded: first << 8) & 0x7fff_ff00 | UInt32(bytes[offset + 8])
    )
  }
}

/// The types of frames.
private enum FrameKind: UInt8 {
  case data, headers, priority, reset, settings, promise, ping, goAway, windowUpdate, continuation
}

// MARK: - What is allowed

extension FloodGuard {
  private mutating func judge(_ frame: Head, _ now: UInt64) -> Session.Offence? {
    payloadLeft = frame.length
    kind = Kind(rawValue: frame.type)
    switch kind {
    case .data, .headers:
      return judgeCall(frame, now)
    case .continuation:
      headersAreOpen = !frame.endsHeaders
      continuations += 1
      return continuations > Self.continuationLimit ? .calmDown(.continuationFlood) : nil
    case .reset:
      note(frame.stream)
      return charge(.rapidReset, now)
    case .priority: return charge(.priorityFlood, now)
    case .settings: return charge(.settingsFlood, now)
    case .ping: return charge(.pingFlood, now)
    case .windowUpdate: return charge(.windowUpdateFlood, now)
    case .promise, .goAway, nil: return charge(.unknownFrameFlood, now)
    }
  }

  private mutating func judgeCall(_ frame: Head, _ now: UInt64) -> Session.Offence? {
    // nghttp2 soon forgets a stream, and takes frames for it in silence. That will do for a server's: gRPC's C++ says how
    // a call ended once more after its reset, when it answers before it has all requests.
    guard !isServer || frame.stream > highestEnded || !any(ended .== frame.stream) else {
      return Session.Offence(abuse: .protocolViolation, code: .streamClosed)
    }
    if frame.endsStream { note(frame.stream) }
    if kind == .headers {
      headersAreOpen = !frame.endsHeaders
      continuations = 0
      // A server's headers are few for each call, and paid for by the call.
      return isServer ? judgeNumber(frame.stream) : charge(.informationFlood, now)
    }
    return frame.length == 0 && !frame.endsStream ? charge(.emptyDataFlood, now) : nil
  }

  /// A number that was left out can never be used.
  private mutating func judgeNumber(_ stream: UInt32) -> Session.Offence? {
    if stream > highest {
      if stream > highest + 2 { leftOut = highest + 1..<stream }
      highest = stream
    } else if leftOut.contains(stream) {
      return Session.Offence(abuse: .protocolViolation, code: .protocolError)
    }
    return nil
  }

  private mutating func note(_ stream: UInt32) {
    ended[endedCount & 7] = stream
    endedCount &+= 1
    highestEnded = max(highestEnded, stream)
  }

  private mutating func charge(_ abuse: PeerAbuse, _ now: UInt64) -> Session.Offence? {
    spend(now: now) ? nil : .calmDown(abuse)
  }

  /// `false` when the peer has sent more than it has earned.
  mutating func spend(_ count: Int = 1, now: UInt64) -> Bool {
    if refilledAt == 0 { refilledAt = now }
    credit -= count
    if credit >= 0 { return true }
    let elapsed = min(now - min(now, refilledAt), 4_000_000_000)
    refilledAt = now
    credit += Int(Double(allowance) * Double(elapsed) / 4e9)
    return credit >= 0
  }

  mutating func earn(_ amount: Int) { credit = min(allowance, credit + amount) }
}

extension Session.Offence {
  fileprivate static func calmDown(_ abuse: PeerAbuse) -> Session.Offence {
    Session.Offence(abuse: abuse, code: .enhanceYourCalm)
  }
}
