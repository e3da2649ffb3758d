// unsafe: zlib, zstd, brotli: one owner a stream, buffers lent for one call

import CZstd

/// RFC 8878.
enum ZstdCodec: Codec {
  /// zstd's default, a compromise between speed and size.
  private static let level: Int32 = 3

  static func compress(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>)
    -> Int?
  {
    let count = ZSTD_compress(output.baseAddress, output.count, input.baseAddress, input.count, level)
    return ZSTD_isError(count) == 0 ? count : nil
  }

  static func makeDecoder(stepLimit: Int) -> (any Decoder)? { ZstdDecoder() }
}

private final class ZstdDecoder: Decoder {
  private let stream: OpaquePointer

  /// The window that RFC 8878 requires decoders to support: 8 MiB. A frame could request gigabytes.
  private static let windowLog: Int32 = 23

  init?() {
    guard let stream = ZSTD_createDCtx() else { return nil }
    self.stream = stream
    _ = ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.windowLog)
  }

  deinit { ZSTD_freeDCtx(stream) }

  func step(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>)
    -> DecoderStep
  {
    var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
    var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
    let result = ZSTD_decompressStream(stream, &target, &source)
    input = UnsafeRawBufferPointer(rebasing: input[source.pos...])
    guard ZSTD_isError(result) == 0 else {
      let isExhausted = ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation
      return DecoderStep(count: 0, state: isExhausted ? .outOfMemory : .broken)
    }
    return DecoderStep(count: target.pos, state: result == 0 ? .ended : .more)
  }
}
