import SwitchboardCall

/// What one stream has to send: messages one after the other, from a pipe or just one.
struct OutboundBody {
  /// Payloads from this size on are sent from where they lie; smaller ones are copied together.
  static let borrowThreshold = 2048

  /// Whether a status follows, which tells of a failure too. Without one, what has failed must not look whole.
  let endsWithStatus: Bool
  private var current: MessageBuffer?
  private var offset = 0
  /// What messages are compressed with as they leave.
  var compression = MessageCompression.none
  var pipe: MessagePipe?
  /// How many messages have gone out whole, for the stream to count down as it tells of them.
  var sentCount = 0
  /// No message follows `current`.
  var isLast = false
  /// What has been sent, or begun.
  private(set) var totals = MessageTotals()
  /// What was taken out of the pipe, for as long as it may have to be sent again.
  private var kept: SentMessages?
  /// How many messages have been told of as sent, in whichever attempt.
  private var toldCount = 0
  private var wholeCount = 0
  private var hasTaken = false
  /// What the pipe failed with, where no status follows.
  private(set) var failure: GRPCStatus?

  init(endsWithStatus: Bool) { self.endsWithStatus = endsWithStatus }

  mutating func setOnly(_ message: MessageBuffer) {
    begin(message)
    isLast = true
  }

  private mutating func begin(_ message: MessageBuffer) {
    guard compression != .none, message.mayCompress else { return start(message) }
    start(Compressor.compress(message, compression))
  }

  private mutating func start(_ message: MessageBuffer) {
    current = message
    offset = 0
    totals.messages += 1
    totals.bytes += message.unsafeFramedBytes.count
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

  /// Makes the next message the current one, or says how the read ends.
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
    guard wholeCount > toldCount else { return }
    toldCount = wholeCount
    sentCount += 1
  }
}

// MARK: - Sending again

extension OutboundBody {
  /// Keeps what is taken out of the pipe, up to so many bytes, in case it must be sent again.
  mutating func keepSent(upTo byteCount: Int) { kept = SentMessages(limit: byteCount) }

  /// It will not be sent again.
  mutating func forgetSent() {
    kept = nil
    hasTaken = true
  }

  /// Whether everything that was taken is still there.
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

/// Messages that were sent, in their order, as long as they are not too many.
struct SentMessages {
  private var messages: [MessageBuffer] = []
  /// What the messages take in memory.
  private var heldByteCount = 0
  private var position = 0
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  /// `false` when it is too much to be kept.
  mutating func append(_ message: MessageBuffer) -> Bool {
    heldByteCount += message.heldByteCount
    guard heldByteCount <= limit else { return false }
    messages.append(message)
    position = messages.count
    return true
  }

  mutating func rewind() { position = 0 }

  /// The next to send again.
  mutating func next() -> MessageBuffer? {
    guard position < messages.count else { return nil }
    defer { position += 1 }
    return messages[position]
  }
}
