// unsafe: framing in place over bytes that the session lends

import SwitchboardCall

/// The messages that a stream has to send: one, or those of a pipe.
struct OutboundBody {
  /// Payloads of at least this size are sent from where they are. Smaller ones are copied together.
  static let borrowThreshold = 2048

  /// Whether a status follows, which also reports failures. Without one, a body that failed must not look complete.
  let endsWithStatus: Bool
  private var current: MessageBuffer?
  private var offset = 0
  /// The compression of messages that are sent.
  var compression = MessageCompression.none
  /// Encodes each message, in calls that are not gRPC's.
  var encoder: (any DialectEncoder)?
  /// Whether messages are sent with their prefix.
  var hasPrefixes = true
  var pipe: MessagePipe?
  /// The number of messages that were sent completely and not yet reported. The stream reduces it as it reports them.
  var sentCount = 0
  /// Whether no message follows `current`.
  var isLast = false
  /// The number and size of messages that were sent, completely or in part.
  private(set) var totals = MessageTotals()
  /// The messages from the pipe, while they may have to be sent again.
  private var kept: SentMessages?
  /// How many messages were reported as sent, in all attempts.
  private var reportedCount = 0
  private var wholeCount = 0
  private var hasTaken = false
  /// The failure of the pipe, if no status follows.
  private(set) var failure: GRPCStatus?
  /// The sizes of messages that were not reported to the call's tracer, if it wants them.
  private var sizes: [Size]?

  init(endsWithStatus: Bool) { self.endsWithStatus = endsWithStatus }

  /// How many bytes are to be sent, before the last message is begun. Inlined, so that the stream copies nothing to ask.
  @inline(__always) var unreadByteCount: Int { pipe.map(\.heldByteCount) ?? totals.bytes }

  mutating func setOnly(_ message: consuming MessageBuffer) {
    begin(message)
    isLast = true
  }

  private mutating func begin(_ message: consuming MessageBuffer) {
    if let encoder { return compress(encoder.encode(message)) }
    compress(message)
  }

  @inline(__always)
  private mutating func compress(_ message: consuming MessageBuffer) {
    guard compression != .none, message.mayCompress else {
      sizes?.append(Size(whole: message.byteCount))
      return setCurrent(message)
    }
    let compressed = Compressor.compress(message, compression)
    sizes?.append(Size(whole: message.byteCount, compressed: compressed.byteCount))
    setCurrent(compressed)
  }

  private mutating func setCurrent(_ message: consuming MessageBuffer) {
    totals.messages += 1
    totals.bytes += message.unsafeFramedBytes.count
    current = message
    offset = hasPrefixes ? 0 : MessageBuffer.prefixByteCount
  }

  mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    var copied = 0
    while copied < buffer.count {
      guard let message = current else {
        if let end = nextMessage(copied) { return end }
        continue
      }
      let rest = UnsafeRawBufferPointer(rebasing: message.unsafeFramedBytes[offset...])
      if rest.count >= Self.borrowThreshold {
        guard copied == 0 else { return .copied(copied) }
        let count = min(rest.count, buffer.count)
        return .borrowed(count, isLast: isLast && count == rest.count)
      }
      let count = min(rest.count, buffer.count - copied)
      UnsafeMutableRawBufferPointer(rebasing: buffer[copied...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
      copied += count
      advance(count, in: message)
    }
    return current == nil && isLast ? .last(copied) : .copied(copied)
  }

  mutating func takeBorrowed(_ count: Int) -> (MessageBuffer, UnsafeRawBufferPointer)? {
    guard let message = current else { return nil }
    let framed = message.unsafeFramedBytes
    guard offset + count <= framed.count else { return nil }
    defer { advance(count, in: message) }
    return (message, UnsafeRawBufferPointer(rebasing: framed[offset..<offset + count]))
  }

  /// Makes the next message the current one, or returns how the read ends.
  private mutating func nextMessage(_ copied: Int) -> BodyRead? {
    if isLast { return .last(copied) }
    if let message = kept?.next() {
      begin(message)
      return nil
    }
    switch pipe?.pop() ?? .empty {
    case .message(let message):
      hasTaken = true
      if kept?.append(message) == false { kept = nil }
      begin(message)
      return nil
    case .empty: return copied > 0 ? .copied(copied) : .wait
    case .failed(let status) where !endsWithStatus:
      failure = status
      return copied > 0 ? .copied(copied) : .wait
    case .end, .failed:
      isLast = true
      return .last(copied)
    }
  }

  private mutating func advance(_ count: Int, in message: MessageBuffer) {
    offset += count
    guard offset == message.unsafeFramedBytes.count else { return }
    current = nil
    offset = 0
    wholeCount += 1
    guard wholeCount > reportedCount else { return }
    reportedCount = wholeCount
    sentCount += 1
  }
}

// MARK: - For the call's tracer

extension OutboundBody {
  private struct Size {
    let whole: Int
    var compressed: Int?
  }

  /// Keeps the sizes of messages until they are reported.
  mutating func keepSizes() { sizes = [] }

  /// Reports the messages that were sent since the last time.
  mutating func report(to tracer: any CallTracer) {
    guard let known = sizes else { return }
    let count = min(sentCount, known.count)
    for size in known[..<count] { tracer.messageSent(size.whole, compressed: size.compressed) }
    sizes?.removeFirst(count)
  }
}

// MARK: - Sending again

extension OutboundBody {
  /// Keeps messages from the pipe, up to this many bytes, in case they must be sent again.
  mutating func keepSent(upTo byteCount: Int) { kept = SentMessages(limit: byteCount) }

  /// Releases the messages, which will not be sent again.
  mutating func forgetSent() {
    kept = nil
    hasTaken = true
  }

  /// Whether all messages that were taken from the pipe are still kept.
  var canSendAgain: Bool { pipe == nil || kept != nil || !hasTaken }

  mutating func startAgain() {
    current = nil
    offset = 0
    isLast = false
    wholeCount = 0
    totals = MessageTotals()
    kept?.rewind()
  }
}

/// The messages that were sent, in order, unless they exceed a limit.
struct SentMessages {
  private var messages: [MessageBuffer] = []
  /// The memory that the messages take.
  private var heldByteCount = 0
  private var position = 0
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  /// Returns `false` if the limit is exceeded.
  mutating func append(_ message: MessageBuffer) -> Bool {
    heldByteCount += message.heldByteCount
    guard heldByteCount <= limit else { return false }
    messages.append(message)
    position = messages.count
    return true
  }

  mutating func rewind() { position = 0 }

  /// Returns the next message to send again.
  mutating func next() -> MessageBuffer? {
    guard position < messages.count else { return nil }
    defer { position += 1 }
    return messages[position]
  }
}
