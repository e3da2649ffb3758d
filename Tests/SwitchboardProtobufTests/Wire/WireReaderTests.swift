import Testing

@testable import SwitchboardProtobuf

@Suite struct WireReaderTests {
  /// The result of `body` for a reader over `bytes`.
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
      // With redundant bytes, and with bits that do not fit: every runtime reads both like this.
      ([0x80, 0x00], 0), ([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], UInt64.max),
    ] as [([UInt8], UInt64)]
  )
  func readsVarints(bytes: [UInt8], value: UInt64) throws {
    // With and without bytes after it: the fast paths depend on what follows.
    #expect(try reading(bytes) { try $0.varint() } == value)
    for rest in [3, 20] {
      let more = [UInt8](repeating: 0x81, count: rest)
      #expect(try reading(bytes + more) { try ($0.varint(), $0.remaining) } == (value, rest))
    }
  }

  @Test func aVarintEndsWithItsMessage() throws {
    // The bytes after a nested message would complete its last varint.
    for count in 1...9 {
      let bytes = [UInt8](repeating: 0x81, count: count) + [1] + [UInt8](repeating: 0, count: 20)
      #expect(throws: DecodeError.self) {
        try reading(bytes) { reader in
          reader.end = reader.cursor + count
          return try reader.varint()
        }
      }
      let value = try reading(bytes) { reader in
        reader.end = reader.cursor + count + 1
        return (try reader.varint(), reader.isAtEnd)
      }
      let whole = try reading(bytes) { try $0.varint() }
      #expect(value.1 && value.0 == whole)
    }
  }

  @Test func readsVarintsOfEverySize() throws {
    for bit in 0..<UInt64(64) {
      for value in [1 << bit, (1 << bit) &- 1, UInt64.max >> bit] {
        var bytes: [UInt8] = []
        var rest = value
        while rest >= 0x80 {
          bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
          rest >>= 7
        }
        bytes.append(UInt8(rest))
        #expect(try reading(bytes) { try $0.varint() } == value)
        let more = [UInt8](repeating: 0xFF, count: 12)
        #expect(try reading(bytes + more) { try ($0.varint(), $0.remaining) } == (value, 12))
      }
    }
  }

  @Test func rejectsUnterminatedVarints() {
    #expect(throws: DecodeError(.truncated)) { try reading([]) { try $0.varint() } }
    #expect(throws: DecodeError(.truncated)) { try reading([0x80]) { try $0.varint() } }
    #expect(throws: DecodeError(.truncated)) { try reading([0x80, 0x80, 0x80]) { try $0.varint() } }
    let endless = [UInt8](repeating: 0x80, count: 10)
    #expect(throws: DecodeError(.malformedVarint)) { try reading(endless) { try $0.varint() } }
    #expect(throws: DecodeError(.malformedVarint)) { try reading(endless + [0]) { try $0.varint() } }
  }

  @Test func readsLittleEndianFixedWidths() throws {
    #expect(try reading([1, 2, 3, 4]) { try $0.fixed(UInt32.self) } == 0x0403_0201)
    #expect(try reading([1, 2, 3, 4, 5, 6, 7, 8]) { try $0.fixed(UInt64.self) } == 0x0807_0605_0403_0201)
    #expect(throws: DecodeError(.truncated)) { try reading([1, 2, 3]) { try $0.fixed(UInt32.self) } }
    #expect(throws: DecodeError(.truncated)) {
      try reading([1, 2, 3, 4, 5, 6, 7]) { try $0.fixed(UInt64.self) }
    }
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
  func rejectsInvalidTags(bytes: [UInt8]) {
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
    #expect(try numbers([0x01, 0x80, 0x01, 0x7F], length: 4) == [9, 1, 128, 127])
    #expect(try numbers([0xAC, 0x02, 0x80, 0x80, 0x01, 0x00], length: 6) == [9, 300, 16_384, 0])
    #expect(throws: DecodeError(.truncated)) { try numbers([0x01, 0x80], length: 2) }
    let endless = [UInt8](repeating: 0xFF, count: 11) + [0]
    #expect(throws: DecodeError(.malformedVarint)) { try numbers(endless, length: 12) }
    #expect(try halfWords([1, 0, 2, 0], length: 4) == [9, 1, 2])
    #expect(throws: DecodeError(.truncated)) { try halfWords([1, 0, 2], length: 3) }
  }

  /// A nine, followed by the packed numbers.
  private func numbers(_ bytes: [UInt8], length: Int) throws -> [UInt64] {
    var values: [UInt64] = [9]
    try reading(bytes) { try $0.varints(length, appendingTo: &values) { $0 } }
    return values
  }

  private func halfWords(_ bytes: [UInt8], length: Int) throws -> [UInt16] {
    var values: [UInt16] = [9]
    try reading(bytes) { try $0.fixed(length, appendingTo: &values) { (bits: UInt16) in bits } }
    return values
  }

  @Test func skipsTheGivenTag() throws {
    for number in [1, 15, 16, 2047] as [Int32] {
      let tag = Tag(number: number, .lengthDelimited)
      let bytes =
        EncodedTag(number, .lengthDelimited).count == 1
        ? [UInt8(tag.bits)]
        : [
          UInt8(tag.bits & 0x7F | 0x80), UInt8(tag.bits >> 7),
        ]
      #expect(reading(bytes) { ($0.skipsTag(tag), $0.remaining) } == (true, 0))
      #expect(
        reading(Array(bytes.dropLast())) { ($0.skipsTag(tag), $0.remaining) } == (false, bytes.count - 1)
      )
      let other = Tag(number: number, .varint)
      #expect(reading(bytes) { ($0.skipsTag(other), $0.remaining) } == (false, bytes.count))
    }
  }
}
