import Testing

@testable import SwitchboardProtobuf

@Suite struct WireReaderTests {
  /// What `body` makes of a reader over `bytes`.
  private func reading<Result>(
    _ bytes: [UInt8],
    _ body: (inout WireReader) throws -> Result
  ) rethrows -> Result {
    try bytes.withUnsafeBytes { bytes in
      var reader = WireReader(bytes)
      return try body(&reader)
    }
  }

  @Test(
    arguments: [
      ([0x00], 0), ([0x7F], 127), ([0x80, 0x01], 128), ([0xFF, 0x7F], 16_383), ([0x80, 0x80, 0x01], 16_384),
      ([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], UInt64.max),
      // Longer than it need be, and with bits that do not fit: both are read as every runtime reads them.
      ([0x80, 0x00], 0), ([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], UInt64.max),
    ] as [([UInt8], UInt64)]
  )
  func readsVarints(bytes: [UInt8], value: UInt64) throws {
    // With and without bytes after it: the short ways in the code depend on what follows.
    #expect(try reading(bytes) { try $0.varint() } == value)
    #expect(try reading(bytes + [1, 2, 3]) { try ($0.varint(), $0.remaining) } == (value, 3))
  }

  @Test func refusesVarintsThatDoNotEnd() {
    #expect(throws: DecodeError(.truncated)) { try reading([]) { try $0.varint() } }
    #expect(throws: DecodeError(.truncated)) { try reading([0x80]) { try $0.varint() } }
    #expect(throws: DecodeError(.truncated)) { try reading([0x80, 0x80, 0x80]) { try $0.varint() } }
    let endless = [UInt8](repeating: 0x80, count: 10)
    #expect(throws: DecodeError(.malformedVarint)) { try reading(endless) { try $0.varint() } }
    #expect(throws: DecodeError(.malformedVarint)) { try reading(endless + [0]) { try $0.varint() } }
  }

  @Test func readsFixedWidthsFromTheLittleEnd() throws {
    #expect(try reading([1, 2, 3, 4]) { try $0.fixed32() } == 0x0403_0201)
    #expect(try reading([1, 2, 3, 4, 5, 6, 7, 8]) { try $0.fixed64() } == 0x0807_0605_0403_0201)
    #expect(throws: DecodeError(.truncated)) { try reading([1, 2, 3]) { try $0.fixed32() } }
    #expect(throws: DecodeError(.truncated)) { try reading([1, 2, 3, 4, 5, 6, 7]) { try $0.fixed64() } }
  }

  @Test func refusesLengthsBeyondTheEnd() throws {
    #expect(try reading([2, 9, 9]) { try $0.length() } == 2)
    #expect(throws: DecodeError(.truncated)) { try reading([3, 9, 9]) { try $0.length() } }
    let huge: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]
    #expect(throws: DecodeError(.truncated)) { try reading(huge) { try $0.length() } }
  }

  @Test func readsTags() throws {
    let tag = try reading([0x0A]) { try $0.tag() }
    #expect(tag.number == 1)
    #expect(tag.wireType == .lengthDelimited)
    let largest = try reading([0xFD, 0xFF, 0xFF, 0xFF, 0x0F]) { try $0.tag() }
    #expect(largest.number == 536_870_911)
    #expect(largest.has(.fixed32))
  }

  @Test(
    arguments: [
      [0x00], [0x07], [0x0E], [0x0F],  // field 0, and the wire types 6 and 7
      [0x80, 0x80, 0x80, 0x80, 0x10],  // nothing in the low 32 bits
      [0x88, 0x80, 0x80, 0x80, 0x40],  // field 1 in the low 32 bits, and something above them
      [0x88, 0x80, 0x80, 0x80, 0x80, 0x00],  // six bytes
    ] as [[UInt8]]
  )
  func refusesTagsThatNoSchemaHas(bytes: [UInt8]) {
    #expect(throws: DecodeError(.invalidTag)) { try reading(bytes) { try $0.tag() } }
  }

  @Test(arguments: [
    "", "a", "fifteen bytes..", "sixteen bytes...", "naïve café — 東京", "12345678é", "é2345678",
  ])
  func readsStrings(text: String) throws {
    let bytes = [UInt8(text.utf8.count)] + Array(text.utf8)
    #expect(try reading(bytes) { try $0.string() } == text)
  }

  @Test(
    arguments: [
      [0xFF], [0xC3], [0xC3, 0x28], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xF5, 0x80, 0x80, 0x80],
      Array("0123456789".utf8) + [0x80],
    ] as [[UInt8]]
  )
  func refusesStringsThatAreNotUTF8(bytes: [UInt8]) {
    #expect(throws: DecodeError(.invalidUTF8)) {
      try reading([UInt8(bytes.count)] + bytes) { try $0.string() }
    }
  }

  @Test func readsPackedNumbers() throws {
    let values = try reading([0x01, 0x80, 0x01, 0x7F]) { try $0.varints(4) { $0 } }
    #expect(values == [1, 128, 127])
    #expect(throws: DecodeError(.truncated)) { try reading([0x01, 0x80]) { try $0.varints(2) { $0 } } }
    let endless = [UInt8](repeating: 0xFF, count: 11) + [0]
    #expect(throws: DecodeError(.malformedVarint)) { try reading(endless) { try $0.varints(12) { $0 } } }
    #expect(try reading([1, 0, 2, 0]) { try $0.fixed(4) { (bits: UInt16) in bits } }.count == 2)
    #expect(throws: DecodeError(.truncated)) {
      try reading([1, 0, 2]) { try $0.fixed(3) { (bits: UInt16) in bits } }
    }
  }
}
