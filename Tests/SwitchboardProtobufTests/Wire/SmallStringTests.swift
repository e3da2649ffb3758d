import Testing

@testable import SwitchboardProtobuf

@Suite struct SmallStringTests {
  @Test func smallStringsHaveTheKnownLayout() {
    #if _endian(little) && _pointerBitWidth(_64)
      #expect(SmallString.isKnown)
    #else
      #expect(!SmallString.isKnown)
    #endif
  }

  @Test(.enabled(if: SmallString.isKnown), arguments: 0...15)
  func matchesStringsOfTheStandardLibrary(count: Int) throws {
    // Every byte is different, and more bytes follow that must not be included.
    let bytes = (0..<UInt8(count)).map { 0x21 + $0 } + [0x7F, 0xFF]
    let expected = String(decoding: bytes.prefix(count), as: UTF8.self)
    let made = try #require(
      bytes.withUnsafeBytes { $0.baseAddress.flatMap { SmallString.make($0, count: count) } }
    )
    #expect(made == expected)
    #expect(Array(made.utf8) == Array(expected.utf8))
    #expect(made.hashValue == expected.hashValue)
    #expect(made + "more than fifteen bytes" == expected + "more than fifteen bytes")
    let words = try #require(SmallString.words(of: made))
    let others = try #require(SmallString.words(of: expected))
    #expect(words == others)
    #expect(words.count == count)
  }

  @Test(.enabled(if: SmallString.isKnown), arguments: 1...15)
  func leavesNonASCIIText(count: Int) {
    for index in 0..<count {
      var bytes = [UInt8](repeating: 0x41, count: count)
      bytes[index] = 0x80
      #expect(bytes.withUnsafeBytes { $0.baseAddress.flatMap { SmallString.make($0, count: count) } } == nil)
    }
  }

  @Test(.enabled(if: SmallString.isKnown))
  func seesWhichStringsAreSmall() {
    let short = String(decoding: Array("caf\u{E9}".utf8), as: UTF8.self)
    #expect(SmallString.words(of: short)?.count == 5)
    let long = String(repeating: "x", count: 16)
    #expect(SmallString.words(of: long) == nil)
  }
}
