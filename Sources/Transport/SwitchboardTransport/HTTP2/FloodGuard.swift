// unsafe: nghttp2: one owner a session, callbacks within one call into it

import SwitchboardCall

/// Inspects the headers of received frames before nghttp2 does. It detects floods of frames that cost a peer little and
/// serve no call, and errors that nghttp2 ignores silently. For a server, it finds the heads of requests.
///
/// Such frames cost credit. A peer also earns credit with each frame that is sent for a call, because a harmless peer
/// responds to those with resets. Two kinds cost nothing: window updates, as far as they take no more bytes than what was sent to the peer, and resets of calls that
/// were open for a while, of which there are no more than a client may have calls at a time.
struct FloodGuard {
  enum Finding {
    /// A frame that begins at this offset must not reach nghttp2.
    case offense(Offense, Int)
    /// The place of a frame that opens a stream, has the whole head of the request and nothing else, and is all there.
    case request(Range<Int>)
    /// A frame that begins at this offset resets a stream, and is not charged yet.
    case reset(UInt32, Int)
    /// Another frame of a client that may change how later headers are decoded.
    case otherBlock
    /// The client says that it will leave. What nghttp2 makes of the bytes behind depends on the call that passes them.
    case goAway
  }

  private typealias Kind = FrameKind

  private let isServer: Bool
  private var credit: PeerCredit

  /// How many bytes of the current frame, or of the client's preface, are still to come.
  private var payloadLeft: Int
  /// The part of a frame header that has arrived, if it arrives in pieces.
  private var head: (UInt64, UInt8) = (0, 0)
  private var headCount = 0
  private var kind: Kind?
  private var headersAreOpen = false
  private var continuations = 0
  /// The streams that the peer has ended most recently.
  private var ended = EndedStreams()
  /// The highest stream that the peer has ended. Higher ones need no search.
  private var highestEnded: UInt32 = 0
  /// The highest stream that a client has opened, and the numbers that it skipped most recently.
  private var highest: UInt32 = 0
  private var skippedStreams: Range<UInt32> = 0..<0
  /// How many header blocks the server may still send for the open calls.
  private var headersDue = 0
  /// How many header blocks have begun.
  private var headersBegun = 0
  /// Whether the first byte of the payload says how much of it is padding.
  private var isPadded = false
  /// How many bytes of window updates are free.
  private var freeUpdates = 0
  private var age = StreamAge()

  static let headSize = 9
  private static let greetingSize = 24
  /// Headers within the limits need fewer.
  static let continuationLimit = 8

  init(of role: Session.Role, allowance: Int) {
    isServer = role == .server
    credit = PeerCredit(allowance: allowance)
    payloadLeft = role == .server ? Self.greetingSize : 0
  }

  /// The number of the header block that was started and is incomplete; zero if there is none.
  var incompleteHeaders: Int {
    headersAreOpen || payloadLeft > 0 && (kind == .headers || kind == .continuation) ? headersBegun : 0
  }

  /// Inspects bytes from an offset, up to the next finding.
  mutating func scan(_ bytes: UnsafeRawBufferPointer, from offset: inout Int, now: UInt64) -> Finding? {
    while offset < bytes.count {
      if payloadLeft > 0 {
        if isPadded, let offense = judgePadding(bytes[offset], now) { return .offense(offense, offset) }
        let skipped = min(payloadLeft, bytes.count - offset)
        payloadLeft -= skipped
        offset += skipped
        continue
      }
      let start = offset
      let newest = highest
      guard let frame = nextHead(bytes, &offset) else { return nil }
      if let offense = judge(frame, now) { return .offense(offense, start) }
      guard isServer else { continue }
      switch kind {
      case .reset: return .reset(frame.stream, start)
      case .headers:
        let end = offset + frame.length
        guard frame.hasOnlyBlock, highest > newest, offset - start == Self.headSize, end <= bytes.count else {
          return .otherBlock
        }
        return .request(start..<end)
      // The answer to this side's settings may change the size of the table.
      case .continuation, .settings, .promise: return .otherBlock
      case .goAway: return .goAway
      default: continue
      }
    }
    return nil
  }

  fileprivate struct Head {
    let length: Int
    let type: UInt8
    let flags: UInt8
    let stream: UInt32

    var endsStream: Bool { flags & 1 != 0 }
    var isPadded: Bool { flags & 8 != 0 }
    var endsHeaders: Bool { flags & 4 != 0 }
    /// For a frame with headers: whether it has all of them, and neither padding nor a priority.
    var hasOnlyBlock: Bool { flags & 0x2c == 4 }
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

// MARK: - Limits

extension FloodGuard {
  private mutating func judge(_ frame: Head, _ now: UInt64) -> Offense? {
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
      // The session charges a client, because it knows whether the stream is open.
      if isServer { return nil }
      note(frame.stream)
      return charge(.rapidReset, now)
    case .priority: return charge(.priorityFlood, now)
    case .settings: return charge(.settingsFlood, now)
    case .ping: return charge(.pingFlood, now)
    case .windowUpdate:
      guard freeUpdates >= Self.updateSize else { return charge(.windowUpdateFlood, now) }
      freeUpdates -= Self.updateSize
      return nil
    case .promise, .goAway, nil: return charge(.unknownFrameFlood, now)
    }
  }

  private mutating func judgeCall(_ frame: Head, _ now: UInt64) -> Offense? {
    // nghttp2 soon forgets a stream and silently ignores later frames for it. A client accepts them: gRPC's C++ server
    // sends the status again after a reset, if it responds before it has all requests.
    guard !isServer || frame.stream > highestEnded || !ended.contains(frame.stream) else {
      return Offense(abuse: .protocolViolation, code: .streamClosed)
    }
    if frame.endsStream { note(frame.stream) }
    if kind == .headers {
      headersAreOpen = !frame.endsHeaders
      continuations = 0
      headersBegun &+= 1
      if isServer { return judgeNumber(frame.stream, now) }
      // The header blocks of calls are free, however many arrive at once. A client is charged for more, because a
      // response may have any number of informational ones.
      guard headersDue == 0 else {
        headersDue -= 1
        return nil
      }
      return charge(.informationFlood, now)
    }
    guard !frame.endsStream else { return nil }
    isPadded = frame.isPadded && frame.length > 0
    return frame.length == 0 ? charge(.emptyDataFlood, now) : nil
  }

  /// Data that consist of padding are empty too. `length` is that of the padding.
  private mutating func judgePadding(_ length: UInt8, _ now: UInt64) -> Offense? {
    isPadded = false
    return payloadLeft <= Int(length) + 1 ? charge(.emptyDataFlood, now) : nil
  }

  /// Called for each reset of a client, in order. A stream that `isOpen` still occupies its place.
  mutating func judgeReset(of stream: UInt32, isOpen: Bool, _ now: UInt64) -> Offense? {
    note(stream)
    return isOpen && age.isOld(stream, now) ? nil : charge(.rapidReset, now)
  }

  /// A number that was skipped must not be used later.
  private mutating func judgeNumber(_ stream: UInt32, _ now: UInt64) -> Offense? {
    if stream > highest {
      age.open(after: highest, now)
      if stream > highest + 2 { skippedStreams = highest + 1..<stream }
      highest = stream
    } else if skippedStreams.contains(stream) {
      return Offense(abuse: .protocolViolation, code: .protocolError)
    }
    return nil
  }

  private mutating func note(_ stream: UInt32) {
    ended.append(stream)
    highestEnded = max(highestEnded, stream)
  }

  private mutating func charge(_ abuse: PeerAbuse, _ now: UInt64) -> Offense? {
    spend(now: now) ? nil : .calmDown(abuse)
  }

  /// Returns `false` if the peer's credit is exhausted.
  mutating func spend(now: UInt64) -> Bool { credit.spend(1, now: now) }

  /// Called when a request was sent. Its response has headers and trailers.
  mutating func expectHeaders(openCalls: Int) { headersDue = min(headersDue + 2, 2 * openCalls) }

  /// Called when a frame was sent for a call, to which a harmless peer may respond.
  mutating func earn(forSending byteCount: Int) {
    credit.earn(4 + byteCount >> 8)
    freeUpdates = min(Self.mostFreeUpdates, freeUpdates + byteCount)
  }

  /// The size of a window update.
  private static let updateSize = 13
  /// The updates for what a peer with very large windows has received and not processed.
  private static let mostFreeUpdates = 16 * 1024 * 1024
}

/// Knows which streams of a client were opened a while ago, by the numbers that they had at a few times.
private struct StreamAge {
  /// Streams up to `before` were opened before the time `since`, and those up to `longBefore` long before it.
  private var longBefore: UInt32 = 0
  private var before: UInt32 = 0
  private var since: UInt64 = 0
  /// When the last stream was opened.
  private var last: UInt64 = 0

  /// In nanoseconds. A client with a hundred streams that resets each after this time makes 4000 calls a second, as it
  /// could also do by waiting for their answers.
  private static let least: UInt64 = 25_000_000

  /// Notes that a stream is opened, after those up to `highest`.
  mutating func open(after highest: UInt32, _ now: UInt64) {
    if now >= since + Self.least { (longBefore, before, since) = (before, highest, now) }
    last = now
  }

  /// Whether an open stream is old. Of a row of streams, some are twice as old before this notices it.
  func isOld(_ stream: UInt32, _ now: UInt64) -> Bool {
    stream <= longBefore || now >= last + Self.least || stream <= before && now >= since + Self.least
  }
}

/// The last eight of a sequence of streams.
///
/// In two vectors, because the allocator serves objects that need no stricter alignment faster, and without gaps.
private struct EndedStreams {
  private var even = SIMD4<UInt32>(repeating: .max)
  private var odd = SIMD4<UInt32>(repeating: .max)
  private var next: UInt8 = 0

  func contains(_ stream: UInt32) -> Bool { any(even .== stream) || any(odd .== stream) }

  mutating func append(_ stream: UInt32) {
    let index = Int(next >> 1 & 3)
    if next & 1 == 0 { even[index] = stream } else { odd[index] = stream }
    next &+= 1
  }
}

extension Offense {
  fileprivate static func calmDown(_ abuse: PeerAbuse) -> Offense {
    Offense(abuse: abuse, code: .enhanceYourCalm)
  }
}
