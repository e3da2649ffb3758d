import CZlib
import SwitchboardCall

/// gzip and deflate for whole messages.
enum Compressor {
  private static let chunk = 32 * 1024

  /// zlib's window bits: 15, plus 16 for the gzip format.
  private static func windowBits(_ encoding: MessageCompression) -> Int32 {
    encoding == .gzip ? 31 : 15
  }

  /// Compresses a message, or returns it as it is if that does not make it smaller.
  static func compress(_ message: MessageBuffer, _ encoding: MessageCompression) -> MessageBuffer {
    guard encoding != .none, message.byteCount > 0, message.byteCount < Int(UInt32.max) / 2 else {
      return message
    }
    var stream = z_stream()
    guard switchboard_deflate_init(&stream, Z_DEFAULT_COMPRESSION, windowBits(encoding)) == Z_OK else {
      return message
    }
    defer { deflateEnd(&stream) }
    // A larger result is not used, so the buffer need not grow.
    var output = [UInt8](repeating: 0, count: message.byteCount)
    let result = message.withBytes { bytes in
      bytes.withUnsafeBytes { input in run(&stream, input, &output) { deflate(&$0, Z_FINISH) } }
    }
    guard result == Z_STREAM_END, Int(stream.total_out) < message.byteCount else { return message }
    return MessageBuffer(unsafeByteCount: Int(stream.total_out), isCompressed: true) { target in
      target.copyBytes(from: output.prefix(target.count))
    }
  }

  private static func run(
    _ stream: inout z_stream,
    _ input: UnsafeRawBufferPointer,
    _ output: inout [UInt8],
    _ step: (inout z_stream) -> Int32
  ) -> Int32 {
    // zlib takes a mutable pointer but does not write through it.
    let base = UnsafeMutableRawPointer(mutating: input.baseAddress)
    stream.next_in = base?.assumingMemoryBound(to: UInt8.self)
    stream.avail_in = UInt32(input.count)
    return output.withUnsafeMutableBufferPointer { target in
      stream.next_out = target.baseAddress
      stream.avail_out = UInt32(target.count)
      return step(&stream)
    }
  }

  /// This many bytes are decompressed in a fraction of a millisecond.
  static let smallByteCount = 64 * 1024

  /// Decompresses a message; `nil` if it is too large to do so at once.
  static func decompressIfSmall(
    _ message: MessageBuffer,
    _ encoding: MessageCompression,
    sizeLimit: Int
  ) throws(GRPCStatus) -> MessageBuffer? {
    guard message.byteCount < smallByteCount else { return nil }
    guard sizeLimit > smallByteCount else { return try decompress(message, encoding, sizeLimit: sizeLimit) }
    return try inflate(message, encoding, upTo: smallByteCount)
  }

  /// Decompresses a message. The buffer does not grow beyond `sizeLimit`, however large the content is.
  static func decompress(
    _ message: MessageBuffer,
    _ encoding: MessageCompression,
    sizeLimit: Int
  ) throws(GRPCStatus) -> MessageBuffer {
    guard let plain = try inflate(message, encoding, upTo: sizeLimit) else {
      throw .messageTooLarge(sizeLimit + 1, limit: sizeLimit)
    }
    return plain
  }

  private static func inflate(
    _ message: MessageBuffer,
    _ encoding: MessageCompression,
    upTo sizeLimit: Int
  ) throws(GRPCStatus) -> MessageBuffer? {
    var stream = z_stream()
    guard switchboard_inflate_init(&stream, windowBits(encoding)) == Z_OK else { throw .cannotDecompress }
    defer { inflateEnd(&stream) }
    let framed = message.unsafeFramedBytes
    let input = UnsafeRawBufferPointer(rebasing: framed[MessageBuffer.prefixByteCount...])
    // Retains the message, and thereby the memory behind the pointer, until the end of this function.
    return try withExtendedLifetime(message) { () throws(GRPCStatus) in
      guard let bytes = try inflateAll(&stream, input, sizeLimit) else { return nil }
      var plain = MessageBuffer(bytes)
      plain.wasCompressed = true
      return plain
    }
  }

  /// `nil` if the content exceeds `sizeLimit`.
  private static func inflateAll(
    _ stream: inout z_stream,
    _ input: UnsafeRawBufferPointer,
    _ sizeLimit: Int
  ) throws(GRPCStatus) -> [UInt8]? {
    stream.next_in = UnsafeMutableRawPointer(mutating: input.baseAddress)?.assumingMemoryBound(to: UInt8.self)
    stream.avail_in = UInt32(input.count)
    var output: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: chunk)
    while true {
      let result = piece.withUnsafeMutableBufferPointer { target in
        stream.next_out = target.baseAddress
        stream.avail_out = UInt32(target.count)
        return CZlib.inflate(&stream, Z_NO_FLUSH)
      }
      output.append(contentsOf: piece.prefix(chunk - Int(stream.avail_out)))
      guard output.count <= sizeLimit else { return nil }
      if result == Z_STREAM_END, stream.avail_in == 0 { return output }
      guard result == Z_OK, stream.avail_out < chunk || stream.avail_in > 0 else { throw .cannotDecompress }
    }
  }
}

extension GRPCStatus {
  static let cannotDecompress = GRPCStatus(
    code: .internalError,
    message: "a compressed message is malformed",
    origin: .peer
  )
}
