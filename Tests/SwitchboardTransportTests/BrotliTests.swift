import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Brotli decompresses up to sixteen megabytes before it passes anything on. Its decoder has no memory for more than the step
/// that it may take.
@Suite struct BrotliTests {
  /// Sixteen megabytes of zeros.
  private static let sixteenMegabytes: [UInt8] = [
    0x9f, 0xff, 0xff, 0xff, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x1f,
  ]
  /// Four megabytes of them.
  private static let fourMegabytes: [UInt8] = [
    0x9f, 0xff, 0xff, 0x3f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x07,
  ]

  @Test(arguments: [64 * 1024, 4 << 20]) func aStepDoesNoMoreThanItMay(_ limit: Int) throws {
    let decoder = try #require(BrotliCodec.makeDecoder(stepLimit: limit))
    var output = [UInt8](repeating: 0, count: 32 * 1024)
    let step = Self.sixteenMegabytes.withUnsafeBytes { bytes in
      var rest = bytes
      return output.withUnsafeMutableBufferPointer { decoder.step(&rest, into: $0) }
    }
    #expect(step.state == .tooLarge)
    #expect(step.count == 0)
  }

  @Test func bombsAreLeftToOtherThreads() throws {
    for bomb in [Self.sixteenMegabytes, Self.fourMegabytes] {
      for limit in [1000, 64 * 1024, 4 << 20] {
        #expect(try Compressor.decompressIfSmall(MessageBuffer(bomb), .brotli, limit: .request(limit)) == nil)
      }
    }
    #expect(throws: MessageLimit.request(4 << 20).exceededByDecompression) {
      try Compressor.decompress(MessageBuffer(Self.sixteenMegabytes), .brotli, limit: .request(4 << 20))
    }
    let whole = try Compressor.decompress(
      MessageBuffer(Self.fourMegabytes),
      .brotli,
      limit: .request(4 << 20)
    )
    #expect(whole.byteCount == 4 << 20)
  }

  /// Whatever the limit is, content within it is decompressed.
  @Test(arguments: [1, 1000, 40_000, 65_536, 65_537, 300_000, 1 << 20]) func contentWithinTheLimitFits(
    _ size: Int
  ) throws {
    // Half of it does not become smaller.
    var seed: UInt32 = 1
    let content = (0..<size).map { index -> UInt8 in
      seed = seed &* 1_664_525 &+ 1_013_904_223
      return index % 2 == 0 ? UInt8(truncatingIfNeeded: seed >> 24) : 7
    }
    let packed = Compressor.compressAlways(MessageBuffer(content), .brotli)
    let plain = try Compressor.decompress(packed, .brotli, limit: .request(size))
    #expect(plain.withBytes { $0.withUnsafeBytes(Array.init) } == content)
    let small = try Compressor.decompressIfSmall(packed, .brotli, limit: .request(size))
    #expect((small != nil) == (size <= 65_536))
    if size > 1 {
      #expect(throws: GRPCStatus.self) {
        try Compressor.decompress(packed, .brotli, limit: .request(size - 1))
      }
    }
  }
}
