// unsafe: zlib, zstd, brotli: one owner a stream, buffers lent for one call

import SwitchboardCall

/// Compresses and decompresses whole messages, in each format that `MessageCompression` names.
///
/// Each format is a `Codec`. This type contains the common parts: a message that does not become smaller is sent
/// uncompressed, and decompression never uses more memory than the message's limit.
enum Compressor {
  private static func codec(_ encoding: MessageCompression) -> (any Codec.Type)? {
    switch encoding {
    case .none: nil
    case .gzip: GzipCodec.self
    case .deflate: DeflateCodec.self
    case .zstd: ZstdCodec.self
    case .brotli: BrotliCodec.self
    }
  }

  /// Compresses a message, or returns it unchanged if that does not make it smaller.
  static func compress(_ message: MessageBuffer, _ encoding: MessageCompression) -> MessageBuffer {
    // A larger result is not used, so the buffer need not grow.
    compress(message, encoding, limit: message.byteCount)
  }

  /// Compresses a message even if that makes it larger, for receivers that expect it.
  static func compressAlways(_ message: MessageBuffer, _ encoding: MessageCompression) -> MessageBuffer {
    // Data that cannot be compressed grows by far less in all formats.
    compress(message, encoding, limit: message.byteCount + message.byteCount / 8 + 256)
  }

  private static func compress(
    _ message: MessageBuffer,
    _ encoding: MessageCompression,
    limit: Int
  ) -> MessageBuffer {
    guard let codec = codec(encoding), limit > 0, message.byteCount < Int(UInt32.max) / 2 else {
      return message
    }
    var output = [UInt8](repeating: 0, count: limit)
    let count = message.withBytes { bytes in
      bytes.withUnsafeBytes { input in
        output.withUnsafeMutableBufferPointer { codec.compress(input, into: $0) }
      }
    }
    guard let count, count < limit else { return message }
    return MessageBuffer(unsafeByteCount: count, isCompressed: true) { target in
      target.copyBytes(from: output.prefix(target.count))
    }
  }

  /// Messages of up to this size are decompressed in a fraction of a millisecond.
  static let smallByteCount = 64 * 1024

  /// Decompresses a message; `nil` if it is too large to do so at once.
  static func decompressIfSmall(
    _ message: MessageBuffer,
    _ encoding: MessageCompression,
    limit: MessageLimit
  ) throws(GRPCStatus) -> MessageBuffer? {
    guard message.byteCount < smallByteCount else { return nil }
    let bound = min(limit.byteCount, smallByteCount)
    let plain = try inflate(message, encoding, upTo: bound, stepLimit: smallByteCount)
    // Only brotli may stop before its limit; then it needs more memory.
    guard plain == nil, bound == limit.byteCount, encoding != .brotli else { return plain }
    throw limit.exceededByDecompression
  }

  /// Decompresses a message. The buffer does not grow beyond `limit`, however large the content is.
  static func decompress(
    _ message: MessageBuffer,
    _ encoding: MessageCompression,
    limit: MessageLimit
  ) throws(GRPCStatus) -> MessageBuffer {
    let stepLimit = max(limit.byteCount, leastStepLimit)
    guard let plain = try inflate(message, encoding, upTo: limit.byteCount, stepLimit: stepLimit) else {
      throw limit.exceededByDecompression
    }
    return plain
  }

  private static func inflate(
    _ message: MessageBuffer,
    _ encoding: MessageCompression,
    upTo sizeLimit: Int,
    stepLimit: Int
  ) throws(GRPCStatus) -> MessageBuffer? {
    let framed = message.unsafeFramedBytes
    let input = UnsafeRawBufferPointer(rebasing: framed[MessageBuffer.prefixByteCount...])
    // Retains the message, and thereby the memory behind the pointer, until the end of this function.
    return try withExtendedLifetime(message) { () throws(GRPCStatus) in
      guard let bytes = try inflate(input, encoding, upTo: sizeLimit, stepLimit: stepLimit) else {
        return nil
      }
      var plain = MessageBuffer(bytes)
      plain.wasCompressed = true
      return plain
    }
  }

  /// What a decoder off the loop may use for a step at least: the codes of brotli may take a megabyte.
  private static let leastStepLimit = 2 << 20

  /// `nil` if the content exceeds `sizeLimit`.
  static func inflate(
    _ input: UnsafeRawBufferPointer,
    _ encoding: MessageCompression,
    upTo sizeLimit: Int,
    stepLimit: Int = leastStepLimit
  ) throws(GRPCStatus) -> [UInt8]? {
    guard let codec = codec(encoding) else { return Array(input) }
    guard let decoder = codec.makeDecoder(stepLimit: stepLimit) else { throw .noMemoryToDecompress }
    var rest = input
    var output: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: chunk)
    while true {
      let step = piece.withUnsafeMutableBufferPointer { decoder.step(&rest, into: $0) }
      output.append(contentsOf: piece.prefix(step.count))
      guard output.count <= sizeLimit else { return nil }
      switch step.state {
      case .ended where rest.isEmpty: return output
      // The step filled the piece, or used all input and needs more.
      case .more where step.count == chunk || !rest.isEmpty: break
      case .tooLarge: return nil
      case .outOfMemory: throw .noMemoryToDecompress
      case .ended, .more, .broken: throw .cannotDecompress
      }
    }
  }

  private static let chunk = 32 * 1024
}

/// A compression format.
protocol Codec {
  /// Compresses all of `input`; `nil` if the result does not fit into `output`.
  static func compress(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>)
    -> Int?

  /// Makes a decoder that decompresses about this many bytes in a step at most. `nil` if there is not enough memory.
  static func makeDecoder(stepLimit: Int) -> (any Decoder)?
}

/// The state of decompressing one message.
protocol Decoder: AnyObject {
  /// Decompresses as much as fits into `output`, and removes what it used from `input`. A step that returns `more` has
  /// filled `output` or used all of `input`.
  func step(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>)
    -> DecoderStep
}

/// The result of a decoder's step.
struct DecoderStep {
  enum State {
    case more, ended, broken
    /// A step would exceed its limit, which the content then does too, unless it is small.
    case tooLarge
    /// The system has refused memory.
    case outOfMemory
  }

  /// How many bytes it wrote.
  let count: Int
  let state: State
}

extension GRPCStatus {
  static let noMemoryToDecompress = GRPCStatus(
    code: .resourceExhausted,
    message: "there is no memory to decompress a message"
  )
  static let cannotDecompress = GRPCStatus(
    code: .internalError,
    message: "a compressed message is malformed",
    origin: .peer
  )
}
