import SwitchboardText
import Testing

@Suite struct ByteSearchTests {
  /// The same, letter by letter.
  private func isIn(_ part: [UInt8], _ whole: [UInt8]) -> Bool {
    guard part.count <= whole.count else { return false }
    return (0...(whole.count - part.count)).contains { whole[$0...].starts(with: part) }
  }

  /// All texts of two letters, up to a length: each part that begins like itself is among them.
  private func texts(upTo length: Int) -> [[UInt8]] {
    (0...length).flatMap { count in
      (0..<(1 << count)).map { bits in (0..<count).map { UInt8(bits >> $0 & 1) } }
    }
  }

  @Test func aPartIsFoundWhereItIs() {
    let wholes = texts(upTo: 8)
    for part in texts(upTo: 5) {
      let wrong = wholes.first { $0.contains(part: part) != isIn(part, $0) }
      #expect(wrong == nil, "\(part)")
    }
  }

  /// A product of the lengths would be 10 to the power of 11.
  @Test func whatResemblesTheTextCostsNoProduct() {
    let whole = Array(repeating: UInt8(ascii: "a"), count: 400_000)
    let part = Array(repeating: UInt8(ascii: "a"), count: 200_000) + [UInt8(ascii: "b")]
    #expect(!whole.contains(part: part))
    #expect((whole + part).contains(part: part))
  }
}
