// unsafe: zlib, zstd, brotli: one owner a stream, buffers lent for one call

import CBrotli

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

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

  static func makeDecoder(stepLimit: Int) -> (any Decoder)? { BrotliDecoder(stepLimit: stepLimit) }
}

/// Brotli decompresses into a ring of its own, of up to 16 MiB, and passes nothing on until that is full: fourteen bytes
/// fill it. The ring is no larger than the content needs, rounded up to a power of two. So a decoder that is refused the
/// memory of a larger ring does no more in a step than its limit allows, and decompresses all content within it.
private final class BrotliDecoder: Decoder {
  private let state: OpaquePointer
  private let memory: UnsafeMutablePointer<Memory>

  private struct Memory {
    let largestBlock: Int
    /// A larger block was asked for.
    var wasRefused = false
    /// The system had no block.
    var isExhausted = false
  }

  /// What a block of the ring has in addition to the ring.
  private static let margin = 1024

  init?(stepLimit: Int) {
    var ring = 1
    while ring < stepLimit, ring < 1 << 24 { ring *= 2 }
    memory = .allocate(capacity: 1)
    memory.initialize(to: Memory(largestBlock: ring + Self.margin))
    let state = BrotliDecoderCreateInstance(
      { memory, byteCount in
        guard let memory = memory?.assumingMemoryBound(to: Memory.self) else { return nil }
        guard byteCount <= memory.pointee.largestBlock else {
          memory.pointee.wasRefused = true
          return nil
        }
        let block = malloc(byteCount)
        if block == nil { memory.pointee.isExhausted = true }
        return block
      },
      { _, block in free(block) },
      memory
    )
    guard let state else {
      memory.deallocate()
      return nil
    }
    self.state = state
  }

  deinit {
    BrotliDecoderDestroyInstance(state)
    memory.deallocate()
  }

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
    default: return DecoderStep(count: count, state: failure)
    }
  }

  private var failure: DecoderStep.State {
    memory.pointee.wasRefused ? .tooLarge : memory.pointee.isExhausted ? .outOfMemory : .broken
  }
}
