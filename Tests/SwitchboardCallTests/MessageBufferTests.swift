import SwitchboardCall
import Testing

@Suite struct MessageBufferTests {
  @Test func framesTheWrittenBytes() throws {
    let message = try MessageBuffer(byteCount: 3) { output in
      for byte in [7, 8, 9] as [UInt8] { output.append(byte) }
    }
    #expect(Array(message.unsafeFramedBytes) == [0, 0, 0, 0, 3, 7, 8, 9])
    #expect(message.withBytes { $0.byteCount } == 3)
  }

  @Test func aMarshallerThatWritesTooLittleIsAnError() {
    #expect(throws: GRPCStatus.self) {
      try MessageBuffer(byteCount: 3) { $0.append(UInt8(1)) }
    }
  }

  @Test func anImpossibleSizeIsAnError() {
    #expect(throws: GRPCStatus.self) { try MessageBuffer(byteCount: -1) { _ in } }
    #expect(throws: GRPCStatus.self) { try MessageBuffer(byteCount: 1 << 32) { _ in } }
  }

  @Test func aMarshallerMayWriteBytesInAnyForm() throws {
    let message = try MessageBuffer(byteCount: 7) { output in
      #expect(output.capacity == 7)
      output.append(1)
      output.append(contentsOf: [2, 3])
      output.append(contentsOf: sequence(first: UInt8(4)) { $0 < 5 ? $0 + 1 : nil })
      let rest: [UInt8] = [6, 7]
      output.append(rest.span.bytes)
      #expect(output.byteCount == 7)
    }
    #expect(message.withBytes { $0.withUnsafeBytes { Array($0) } } == [1, 2, 3, 4, 5, 6, 7])
  }

  @Test(arguments: [[1, 2, 3, 4], [1, 2], []] as [[UInt8]])
  func writingAnotherSizeThanAnnouncedFails(_ bytes: [UInt8]) {
    for whole in [true, false] {
      #expect(throws: GRPCStatus.self) {
        try MessageBuffer(byteCount: 3) { output in
          if whole { output.append(contentsOf: bytes) } else { for byte in bytes { output.append(byte) } }
        }
      }
    }
  }
}
