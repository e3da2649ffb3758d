import SwitchboardCall

/// What one stream has to send: messages one after the other, from a pipe or just one.
struct OutboundBody {
  /// Payloads from this size on are sent from where they lie; smaller ones are copied together.
  static let borrowThreshold = 2048

  private var current: MessageBuffer?
  private var offset = 0
  /// What messages are compressed with as they leave.
  var compression = MessageCompression.none
  var pipe: MessagePipe?
  /// How many messages have gone out whole, for the stream to count down as it tells of them.
  var sentCount = 0
  /// No message follows `current`.
  var isLast = false

  mutating func setOnly(_ message: MessageBuffer) {
    current = compressed(message)
    offset = 0
    isLast = true
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
        return copied > 0 ? .copied(copied) : .borrowed(min(rest.count, buffer.count))
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
    switch pipe?.pop() ?? .empty {
    case .message(let message):
      current = compressed(message)
      offset = 0
      return nil
    case .empty: return copied > 0 ? .copied(copied) : .wait
    case .end, .failed:
      isLast = true
      return .last(copied)
    }
  }

  private func compressed(_ message: MessageBuffer) -> MessageBuffer {
    compression == .none ? message : Compressor.compress(message, compression)
  }

  private mutating func advance(_ count: Int, in message: MessageBuffer) {
    offset += count
    guard offset == message.unsafeFramedBytes.count else { return }
    current = nil
    offset = 0
    sentCount += 1
  }
}
