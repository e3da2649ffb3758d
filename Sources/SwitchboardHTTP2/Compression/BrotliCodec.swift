import CBrotli

/// RFC 7932.
enum BrotliCodec: Codec {
  /// As fast as zlib's default, and smaller. The highest quality takes seconds for a few megabytes.
  private static let quality: Int32 = 4

  static func compress(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>)
    -> Int?
  {
    var count = output.count
    let done = BrotliEncoderCompress(
      quality,
      BROTLI_DEFAULT_WINDOW,
      BROTLI_MODE_GENERIC,
      input.count,
      input.baseAddress?.assumingMemoryBound(to: UInt8.self),
      &count,
      output.baseAddress
    )
    return done == BROTLI_TRUE ? count : nil
  }

  static func makeDecoder() -> (any Decoder)? { BrotliDecoder() }
}

private final class BrotliDecoder: Decoder {
  private let state: OpaquePointer

  init?() {
    guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { return nil }
    self.state = state
  }

  deinit { BrotliDecoderDestroyInstance(state) }

  func step(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>)
    -> DecoderStep
  {
    var left = input.count
    var next = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    var room = output.count
    var target = output.baseAddress
    let result = BrotliDecoderDecompressStream(state, &left, &next, &room, &target, nil)
    input = UnsafeRawBufferPointer(rebasing: input[(input.count - left)...])
    let count = output.count - room
    switch result {
    case BROTLI_DECODER_RESULT_SUCCESS: return DecoderStep(count: count, state: .ended)
    case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
      return DecoderStep(count: count, state: .more)
    default: return DecoderStep(count: count, state: .broken)
    }
  }
}
