// unsafe: zlib, zstd, brotli: one owner a stream, buffers lent for one call

import CZlib

/// RFC 1952.
enum GzipCodec: ZlibCodec {
  // 15, plus 16 for this format.
  static let windowBits: Int32 = 31
}

/// RFC 1950.
enum DeflateCodec: ZlibCodec {
  static let windowBits: Int32 = 15
}

/// A format of zlib's, which its window bits select.
protocol ZlibCodec: Codec {
  static var windowBits: Int32 { get }
}

extension ZlibCodec {
  static func compress(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>)
    -> Int?
  {
    ZlibDecoder.compress(input, into: output, windowBits: windowBits)
  }

  static func makeDecoder(stepLimit: Int) -> (any Decoder)? { ZlibDecoder(windowBits: windowBits) }
}

private final class ZlibDecoder: Decoder {
  // zlib keeps the address of its stream.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

  init?(windowBits: Int32) {
    stream.initialize(to: z_stream())
    guard switchboard_inflate_init(stream, windowBits) == Z_OK else { return nil }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  func step(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>)
    -> DecoderStep
  {
    // zlib takes a mutable pointer but does not write through it.
    let base = UnsafeMutableRawPointer(mutating: input.baseAddress)
    stream.pointee.next_in = base?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(input.count)
    stream.pointee.next_out = output.baseAddress
    stream.pointee.avail_out = UInt32(output.count)
    let result = inflate(stream, Z_NO_FLUSH)
    input = UnsafeRawBufferPointer(rebasing: input[(input.count - Int(stream.pointee.avail_in))...])
    let count = output.count - Int(stream.pointee.avail_out)
    switch result {
    case Z_STREAM_END: return DecoderStep(count: count, state: .ended)
    case Z_OK: return DecoderStep(count: count, state: .more)
    case Z_MEM_ERROR: return DecoderStep(count: count, state: .outOfMemory)
    default: return DecoderStep(count: count, state: .broken)
    }
  }

  static func compress(
    _ input: UnsafeRawBufferPointer,
    into output: UnsafeMutableBufferPointer<UInt8>,
    windowBits: Int32
  ) -> Int? {
    var stream = z_stream()
    guard switchboard_deflate_init(&stream, Z_DEFAULT_COMPRESSION, windowBits) == Z_OK else { return nil }
    defer { deflateEnd(&stream) }
    let base = UnsafeMutableRawPointer(mutating: input.baseAddress)
    stream.next_in = base?.assumingMemoryBound(to: UInt8.self)
    stream.avail_in = UInt32(input.count)
    stream.next_out = output.baseAddress
    stream.avail_out = UInt32(output.count)
    return deflate(&stream, Z_FINISH) == Z_STREAM_END ? Int(stream.total_out) : nil
  }
}
