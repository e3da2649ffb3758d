import Testing

@testable import SwitchboardCall

@Suite struct MessageBufferTests {
  @Test func framesWhatIsWritten() throws {
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
}
