// unsafe: framing in place over bytes that the session lends

import SwitchboardCall

/// Splits the bytes of a stream into gRPC messages.
///
/// The memory of a message grows with what has arrived of it. A peer that only announces a long message has none: the
/// process would end where address space is limited, because Swift's allocator cannot fail.
struct Deframer {
  /// ```
  ///   prefix ──five bytes──> body ──length bytes──> prefix
  /// ```
  private enum State {
    case prefix
    /// The buffer is the message's own once it is as long as that.
    case body(MessageBuffer, filled: Int, length: Int)
  }

  /// The memory of a message of which nothing has arrived.
  private static let leastMemory = 16 * 1024
  /// How much memory there is for each byte that has arrived. A message of up to a megabyte has all of its memory with its
  /// first frame, and no byte of it is copied again. Of a longer one, a sixty-fourth is.
  private static let growth = 64

  private var state = State.prefix
  private var prefix: (UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0, 0)
  private var prefixCount = 0
  /// The flag of a frame that is not a message but the end of the body, in protocols other than gRPC.
  private var endFlag: UInt8 = 0
  /// The largest such frame.
  private var endLimit = 0
  private var isEnd = false
  /// The frame that ended the body.
  private(set) var end: MessageBuffer?
  private let limit: MessageLimit
  /// The most bytes of a message that do not count, because the client has not sent them.
  var addedByteCount = 0

  init(limit: MessageLimit) { self.limit = limit }

  /// Lets a frame with this flag end the body.
  mutating func endWith(_ flag: UInt8, limit: Int) {
    endFlag = flag
    endLimit = limit
  }

  /// Whether a message has started and is incomplete.
  var isInsideMessage: Bool { isInsideBody || prefixCount > 0 }

  /// How many bytes have arrived of a message that is incomplete.
  var filledByteCount: Int { if case .body(_, let filled, _) = state { filled } else { 0 } }

  /// Forgets the message that is incomplete.
  mutating func drop() { state = .prefix }

  /// Whether the next bytes belong to the body of a message that has started.
  var isInsideBody: Bool {
    if case .body = state { return true }
    return false
  }

  /// Returns the message if the bytes are exactly one uncompressed message, which can be read in place.
  static func wholeMessage(
    in bytes: UnsafeRawBufferPointer,
    limit: MessageLimit
  ) -> UnsafeRawBufferPointer? {
    guard bytes.count >= MessageBuffer.prefixByteCount, bytes[0] == 0 else { return nil }
    let length = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
    guard length == bytes.count - MessageBuffer.prefixByteCount, length <= limit.byteCount else { return nil }
    return UnsafeRawBufferPointer(rebasing: bytes[MessageBuffer.prefixByteCount...])
  }

  /// Consumes bytes up to the end of a message. Returns the message if it is complete.
  mutating func next(_ bytes: inout UnsafeRawBufferPointer) throws(GRPCStatus) -> MessageBuffer? {
    if end != nil, !bytes.isEmpty { throw .bytesAfterEnd }
    while !bytes.isEmpty {
      switch state {
      case .prefix:
        bytes = try readPrefix(bytes)
      case .body(let message, let filled, let length):
        bytes = fill(message, of: length, from: filled, with: bytes)
      }
      if case .body(let message, let filled, let length) = state, filled == length {
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
    guard isEnd ? length <= endLimit : length - addedByteCount <= limit.byteCount else {
      throw (isEnd ? MessageLimit(endLimit, .statusInBody) : limit).exceeded(by: length)
    }
    let rest = UnsafeRawBufferPointer(rebasing: bytes[taken...])
    state = .body(makeBuffer(for: rest.count, of: length), filled: 0, length: length)
    return rest
  }

  private func makeBuffer(for arrived: Int, of length: Int) -> MessageBuffer {
    let byteCount = min(length, max(Self.leastMemory, Self.growth * arrived))
    return MessageBuffer(unsafeByteCount: byteCount, isCompressed: prefix.0 == 1) { _ in }
  }

  private mutating func takeFlags() throws(GRPCStatus) {
    guard endFlag != 0, prefix.0 & ~1 == endFlag else { throw .badPrefix(prefix.0) }
    isEnd = true
    prefix.0 &= 1
  }

  private mutating func fill(
    _ buffer: MessageBuffer,
    of length: Int,
    from filled: Int,
    with bytes: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    let taken = min(length - filled, bytes.count)
    var message = buffer
    if filled + taken > buffer.byteCount {
      message = makeBuffer(for: filled + taken, of: length)
      let old = UnsafeRawBufferPointer(
        rebasing: buffer.unsafeFramedBytes.dropFirst(MessageBuffer.prefixByteCount)
      )
      withExtendedLifetime(buffer) { Self.copy(old.prefix(filled), to: message, at: 0) }
    }
    Self.copy(bytes.prefix(taken), to: message, at: filled)
    state = .body(message, filled: filled + taken, length: length)
    return UnsafeRawBufferPointer(rebasing: bytes[taken...])
  }

  private static func copy(_ bytes: Slice<UnsafeRawBufferPointer>, to message: MessageBuffer, at offset: Int)
  {
    let framed = message.unsafeFramedBytes
    guard let base = framed.baseAddress, let source = UnsafeRawBufferPointer(rebasing: bytes).baseAddress,
      !bytes.isEmpty
    else { return }
    // Messages are otherwise immutable, but no other code has seen this one yet.
    (UnsafeMutableRawPointer(mutating: base) + MessageBuffer.prefixByteCount + offset)
      .copyMemory(from: source, byteCount: bytes.count)
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
