import CZstd

/// RFC 8878.
enum ZstdCodec: Codec {
  /// A middle way between speed and size, and zstd's default.
  private static let level: Int32 = 3

  static func compress(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>)
    -> Int?
  {
    let count = ZSTD_compress(output.baseAddress, output.count, input.baseAddress, input.count, level)
    return ZSTD_isError(count) == 0 ? count : nil
  }

  static func makeDecoder() -> (any Decoder)? { ZstdDecoder() }
}

private final class ZstdDecoder: Decoder {
  private let stream: OpaquePointer

  /// The largest window that RFC 8878 asks a decoder to have: 8 MiB. A frame can ask for gigabytes.
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
    guard ZSTD_isError(result) == 0 else { return DecoderStep(count: 0, state: .broken) }
    return DecoderStep(count: target.pos, state: result == 0 ? .ended : .goesOn)
  }
}
