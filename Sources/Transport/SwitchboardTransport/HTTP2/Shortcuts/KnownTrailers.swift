// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2

/// The trailers of a call that succeeds, as nghttp2 has last encoded them on a connection.
///
/// Most responses end with them. Their bytes mean the same as before as long as no block in between changes the table that
/// they refer to. So nghttp2 ends a stream with its body, and the session appends the trailers, which nghttp2 would have to
/// encode, and send in a frame of its own.
struct KnownTrailers {
  /// The block, whose first byte is the lowest one.
  private var block: UInt64 = 0
  private var blockSize = 0
  /// The last stream whose trailers nghttp2 was to encode; zero if it has done so.
  private var awaited: UInt32 = 0

  private static let endStream = UInt8(NGHTTP2_FLAG_END_STREAM.rawValue)
  private static let endHeaders = UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue)

  var areKnown: Bool { blockSize > 0 }

  /// The size of a frame of them.
  var frameSize: Int { FloodGuard.headSize + blockSize }

  /// Notes that nghttp2 is to encode them for this stream.
  mutating func await(on stream: Int32) { awaited = UInt32(bitPattern: stream) }

  /// Called when the table may have changed.
  mutating func forget() {
    blockSize = 0
    awaited = 0
  }

  /// Notes a frame that nghttp2 has made.
  @inline(__always)
  mutating func note(_ frame: UnsafeRawBufferPointer) {
    guard areKnown || awaited != 0, frame.count > FloodGuard.headSize else { return }
    switch UInt32(frame[3]) {
    case NGHTTP2_HEADERS.rawValue: noteHeaders(frame)
    case NGHTTP2_CONTINUATION.rawValue: forget()
    default: break
    }
  }

  private mutating func noteHeaders(_ frame: UnsafeRawBufferPointer) {
    let bytes = UnsafeRawBufferPointer(rebasing: frame[FloodGuard.headSize...])
    var fields = EncodedFields(bytes)
    guard fields.skipAll(), !fields.mayChangeTable else { return forget() }
    let id = UInt32(bigEndian: frame.loadUnaligned(fromByteOffset: 5, as: UInt32.self))
    guard id == awaited, frame[4] == Self.endStream | Self.endHeaders, bytes.count <= 8 else { return }
    awaited = 0
    block = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    blockSize = bytes.count
  }

  /// Writes a frame of them, for the stream whose last frame this is, to memory of `frameSize` bytes.
  func write(after frame: UnsafeRawBufferPointer, to memory: UnsafeMutableRawBufferPointer) {
    memory[0] = 0
    memory[1] = 0
    memory[2] = UInt8(truncatingIfNeeded: blockSize)
    memory[3] = UInt8(NGHTTP2_HEADERS.rawValue)
    memory[4] = Self.endStream | Self.endHeaders
    memory.storeBytes(
      of: frame.loadUnaligned(fromByteOffset: 5, as: UInt32.self),
      toByteOffset: 5,
      as: UInt32.self
    )
    withUnsafeBytes(of: block.littleEndian) {
      UnsafeMutableRawBufferPointer(rebasing: memory[FloodGuard.headSize...]).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: $0[..<blockSize])
      )
    }
  }
}
