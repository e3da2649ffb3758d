import SwitchboardProtobuf
import TestMessages
import Testing

/// Map entries whose values are numbers that a closed enum does not define.
@Suite struct ClosedEnumTests {
  private static let key: [UInt8] = [0x0A, 1, UInt8(ascii: "k")]
  private static let known: [UInt8] = [0x10, 1]
  private static let unknown: [UInt8] = [0x10, 9]
  private static let other: [UInt8] = [0x18, 5]

  private func entry(_ parts: [[UInt8]]) -> [UInt8] { WireBytes.delimited(147, parts.flatMap { $0 }) }

  @Test(arguments: [
    [key, unknown, known], [unknown, key, known], [key, unknown, other, known], [unknown, other, known, key],
    [key, unknown, unknown, other, known, other],
  ])
  func theLastValueCounts(_ parts: [[UInt8]]) throws {
    // The following fields are read normally.
    let bytes = entry(parts) + CostlyBytes.unknown(1) + [0x08, 7]
    let message = try AllKinds2(serializedBytes: bytes)
    #expect(message.mapStringColor == ["k": .green])
    #expect(message.oneInt32 == 7)
    #expect(message.unknownFields.bytes == CostlyBytes.unknown(1))
  }

  @Test(arguments: [
    [key, unknown], [unknown, key], [key, known, unknown], [key, unknown, other],
    [known, other, unknown, other, key],
  ])
  func theEntryIsKeptAsItCame(_ parts: [[UInt8]]) throws {
    let bytes = entry(parts)
    let message = try AllKinds2(serializedBytes: bytes + [0x08, 7] + entry([Self.key, Self.known]))
    #expect(message.mapStringColor == ["k": .green])
    #expect(message.oneInt32 == 7)
    #expect(message.unknownFields.bytes == bytes)
  }
}
