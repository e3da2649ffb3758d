// unsafe: bytes that the session lends until the connection has processed its ready streams, or of a message that is kept

import SwitchboardCall

/// The message of a call with a single message, until it is read.
enum SingleMessage {
  case none
  /// It is in the read buffer, until the connection has processed its ready streams.
  case lent(UnsafeRawBufferPointer)
  case kept(MessageBuffer)
  /// It was decoded by the handler that has it now. It may consist of very many objects, which are released with the
  /// handler, on another thread.
  case decoded(MethodHandler)

  var byteCount: Int {
    switch self {
    case .none, .decoded: 0
    case .lent(let bytes): bytes.count
    case .kept(let message): message.byteCount
    }
  }

  /// Whether other calls should not wait for its conversion.
  var isLarge: Bool { byteCount >= MessageBuffer.largeByteCount }

  /// The message in memory that it owns.
  var buffer: MessageBuffer? {
    switch self {
    case .none, .decoded: nil
    case .lent(let bytes): MessageBuffer(bytes)
    case .kept(let message): message
    }
  }

  /// Copies a lent message.
  mutating func keep() { if case .lent = self, let buffer { self = .kept(buffer) } }

  /// The bytes, which are valid as long as the message.
  var unsafeBytes: UnsafeRawBufferPointer {
    switch self {
    case .none, .decoded: UnsafeRawBufferPointer(start: nil, count: 0)
    case .lent(let bytes): bytes
    case .kept(let message):
      UnsafeRawBufferPointer(rebasing: message.unsafeFramedBytes[MessageBuffer.prefixByteCount...])
    }
  }

  func withBytes<Result>(_ body: (RawSpan) -> Result?) -> Result? {
    switch self {
    case .none, .decoded: nil
    case .lent(let bytes): body(bytes.bytes)
    case .kept(let message): message.withBytes(body)
    }
  }
}
