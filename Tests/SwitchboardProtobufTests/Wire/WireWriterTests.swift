import Testing

@testable import SwitchboardProtobuf

@Suite struct WireWriterTests {
  /// The bytes that `body` writes into `room` bytes, or nil if they do not fit.
  private func written(room: Int = 64, _ body: (inout WireWriter) -> Void) -> [UInt8]? {
    var overflowed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      // An array may have more capacity than was requested.
      var writer = WireWriter(
        UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<room])
      )
      body(&writer)
      overflowed = writer.hasOverflowed
      count = room - writer.remaining
    }
    return overflowed ? nil : bytes
  }

  private static let varints: [(UInt64, [UInt8])] = [
    (0, [0]), (127, [0x7F]), (128, [0x80, 0x01]), (16_383, [0xFF, 0x7F]), (16_384, [0x80, 0x80, 0x01]),
    (UInt64.max, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]),
  ]

  @Test(arguments: varints)
  func writesVarints(value: UInt64, bytes: [UInt8]) {
    #expect(written { $0.varint(value) } == bytes)
    #expect(WireWriter.size(ofVarint: value) == bytes.count)
  }

  @Test(arguments: varints)
  func fillsItsMemoryToTheLastByte(value: UInt64, bytes: [UInt8]) {
    #expect(written(room: bytes.count) { $0.varint(value) } == bytes)
    #expect(written(room: bytes.count - 1) { $0.varint(value) } == nil)
  }

  @Test func countsEverySizeOfVarint() {
    for bit in 0..<UInt64(64) {
      let value: UInt64 = 1 << bit
      #expect(WireWriter.size(ofVarint: value) == Int(bit / 7) + 1)
      #expect(WireWriter.size(ofVarint: value - 1) == Int((max(bit, 1) - 1) / 7) + 1)
    }
  }

  @Test(arguments: [1, 15, 16, 2047, 2048, 262_143, 262_144, 33_554_431, 33_554_432, 536_870_911] as [Int32])
  func writesTags(number: Int32) {
    let tag = EncodedTag(number, .lengthDelimited)
    let expected = written { $0.varint(UInt64(UInt32(bitPattern: number) << 3 | 2)) }
    #expect(written { $0.tag(tag) } == expected)
    #expect(tag.count == WireWriter.size(ofTag: number))
    // Without the room for the fast path, and without any room.
    #expect(written(room: tag.count) { $0.tag(tag) } == expected)
    #expect(written(room: tag.count - 1) { $0.tag(tag) } == nil)
    #expect(written { $0.tag(tag, varint: 300) } == (expected ?? []) + [0xAC, 0x02])
    #expect(written(room: tag.count + 2) { $0.tag(tag, varint: 300) } == (expected ?? []) + [0xAC, 0x02])
    #expect(written(room: tag.count + 1) { $0.tag(tag, varint: 300) } == nil)
  }

  @Test(arguments: 0...40)
  func writesBytesOfEveryShortLength(count: Int) {
    let bytes = (0..<count).map { UInt8($0 + 1) }
    #expect(written { $0.raw(bytes) } == bytes)
    #expect(written(room: count) { $0.raw(bytes) } == bytes)
    if count > 0 { #expect(written(room: count - 1) { $0.raw(bytes) } == nil) }
  }

  @Test(arguments: ["", "short", "rather longer than fifteen bytes", "naïve café — 東京"])
  func writesStrings(text: String) {
    let expected = [0x0A, UInt8(text.utf8.count)] + Array(text.utf8)
    let tag = EncodedTag(1, .lengthDelimited)
    #expect(written { $0.string(text, tag: tag) } == expected)
    // Without the room for the fast path, and without any room.
    #expect(written(room: expected.count) { $0.string(text, tag: tag) } == expected)
    #expect(written(room: expected.count - 1) { $0.string(text, tag: tag) } == nil)
  }

  @Test func writesPackedNumbersWithAndWithoutRoomToSpare() {
    let values: [UInt64] = [1, 128, 16_384, 0]
    let expected: [UInt8] = [1, 0x80, 1, 0x80, 0x80, 1, 0]
    for room in [7, 8, 16, 17, 18, 64] {
      #expect(written(room: room) { $0.varints(values, length: 7) { $0 } } == expected)
    }
    #expect(written(room: 6) { $0.varints(values, length: 7) { $0 } } == nil)
  }

  @Test func staysFullOnceSomethingDidNotFit() {
    #expect(
      written(room: 4) {
        $0.fixed(UInt64(1))
        $0.raw([])
        $0.fixed(UInt32(1))
        $0.varint(1)
        $0.tag(EncodedTag(1, .varint))
      } == nil
    )
  }

  @Test func staysWithinTheGivenLength() {
    // A length that is too small is a bug of the caller; it must not cause a write past the end.
    #expect((written(room: 12) { $0.varints([300, 300, 300], length: 2) { $0 } } ?? []).count <= 12)
  }

  @Test func writesPackedNumbersAsItWritesEach() {
    let edges: [Int32] = [
      0, 1, 63, 64, 127, 128, 8191, 8192, 16_383, 16_384, 1_048_576, 2_097_151, 2_097_152,
    ]
    let numbers = edges + edges.map { -$0 } + [268_435_455, 268_435_456, .max, .min]
    expectPackedAsEach(ProtoInt32.self, numbers)
    expectPackedAsEach(ProtoSInt32.self, numbers)
    expectPackedAsEach(ProtoUInt32.self, numbers.map { UInt32(bitPattern: $0) })
    expectPackedAsEach(ProtoInt64.self, numbers.map { Int64($0) })
    expectPackedAsEach(ProtoBool.self, [true, false])
    expectPackedAsEach(ProtoDouble.self, [1, 2])
  }

  private func expectPackedAsEach<S: ScalarType>(_ type: S.Type, _ values: [S.Value]) {
    let length = values.reduce(0) { $0 + S.size(of: $1) }
    let packed = written(room: 1000) { S.writePacked(values, length: length, to: &$0) }
    #expect(packed == written(room: 1000) { for value in values { S.write(value, to: &$0) } })
    #expect(packed?.count == length)
  }
}
