import SwitchboardCall

/// Splits the bytes of a stream into gRPC messages.
struct Deframer {
  /// ```
  ///   prefix ──five bytes──> body ──length bytes──> prefix
  /// ```
  private enum State {
    case prefix
    case body(MessageBuffer, filled: Int)
  }

  private var state = State.prefix
  private var prefix: (UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0, 0)
  private var prefixCount = 0
  /// The flag of a frame that is not a message but the end of the body, in protocols other than gRPC.
  var endFlag: UInt8 = 0
  /// The largest such frame.
  var endLimit = 0
  private var isEnd = false
  /// The frame that ended the body.
  private(set) var end: MessageBuffer?
  let sizeLimit: Int

  init(sizeLimit: Int) {
    self.sizeLimit = sizeLimit
  }

  /// Whether a message has started and is incomplete.
  var isInsideMessage: Bool { isInsideBody || prefixCount > 0 }

  /// Whether the next bytes belong to the body of a message that has started.
  var isInsideBody: Bool {
    if case .body = state { return true }
    return false
  }

  /// Returns the message if the bytes are exactly one uncompressed message, which can be read in place.
  func wholeMessage(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard !isInsideMessage, bytes.count >= MessageBuffer.prefixByteCount, bytes[0] == 0 else { return nil }
    let length = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
    guard length == bytes.count - MessageBuffer.prefixByteCount, length <= sizeLimit else { return nil }
    return UnsafeRawBufferPointer(rebasing: bytes[MessageBuffer.prefixByteCount...])
  }

  /// Consumes bytes up to the end of a message. Returns the message if it is complete.
  mutating func next(_ bytes: inout UnsafeRawBufferPointer) throws(GRPCStatus) -> MessageBuffer? {
    if end != nil, !bytes.isEmpty { throw .bytesAfterEnd }
    while !bytes.isEmpty {
      switch state {
      case .prefix:
        bytes = try readPrefix(bytes)
      case .body(let message, let filled):
        bytes = fill(message, from: filled, with: bytes)
      }
      if case .body(let message, let filled) = state, filled == message.byteCount {
        state = .prefix
        guard isEnd else { return message }
        end = message
        guard bytes.isEmpty else { throw .bytesAfterEnd }
      }
    }
    return nil
  }

  private mutating func readPrefix(
    _ bytes: UnsafeRawBufferPointer
  ) throws(GRPCStatus) -> UnsafeRawBufferPointer {
    let taken = min(MessageBuffer.prefixByteCount - prefixCount, bytes.count)
    withUnsafeMutableBytes(of: &prefix) { target in
      for index in 0..<taken { target[prefixCount + index] = bytes[index] }
    }
    prefixCount += taken
    guard prefixCount == MessageBuffer.prefixByteCount else {
      return UnsafeRawBufferPointer(rebasing: bytes[taken...])
    }
    prefixCount = 0
    if prefix.0 > 1 { try takeFlags() }
    let length = Int(prefix.1) << 24 | Int(prefix.2) << 16 | Int(prefix.3) << 8 | Int(prefix.4)
    let limit = isEnd ? endLimit : sizeLimit
    guard length <= limit else { throw .messageTooLarge(length, limit: limit) }
    state = .body(MessageBuffer(unsafeByteCount: length, isCompressed: prefix.0 == 1) { _ in }, filled: 0)
    return UnsafeRawBufferPointer(rebasing: bytes[taken...])
  }

  private mutating func takeFlags() throws(GRPCStatus) {
    guard endFlag != 0, prefix.0 & ~1 == endFlag else { throw .badPrefix(prefix.0) }
    isEnd = true
    prefix.0 &= 1
  }

  private mutating func fill(
    _ message: MessageBuffer,
    from filled: Int,
    with bytes: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    let taken = min(message.byteCount - filled, bytes.count)
    let framed = message.unsafeFramedBytes
    if let base = framed.baseAddress, let source = bytes.baseAddress, taken > 0 {
      // Messages are otherwise immutable, but no other code has seen this one yet.
      (UnsafeMutableRawPointer(mutating: base) + MessageBuffer.prefixByteCount + filled)
        .copyMemory(from: source, byteCount: taken)
    }
    state = .body(message, filled: filled + taken)
    return UnsafeRawBufferPointer(rebasing: bytes[taken...])
  }
}

extension GRPCStatus {
  static func badPrefix(_ flags: UInt8) -> GRPCStatus {
    GRPCStatus(
      code: .internalError,
      message:
        "a message's flags are \(flags), not 0 or 1: before each message come a byte of flags and four of its length",
      origin: .peer
    )
  }

  static let bytesAfterEnd = GRPCStatus(
    code: .internalError,
    message: "there are bytes after the last frame of the body",
    origin: .peer
  )
  static let truncatedMessage = GRPCStatus(
    code: .internalError,
    message: "the stream ended inside a message",
    origin: .peer
  )
}
