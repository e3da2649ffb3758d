import SwitchboardProtobuf
import TestMessages
import Testing

/// Which encoded messages take little more time to decode than to copy.
@Suite struct BulkScanTests {
  private typealias Kinds = Switchboard_Testing_AllKinds3

  private static let work = 16 * 1024
  private static let long = [UInt8](repeating: 0x61, count: 1 << 20)

  private func isQuick(_ bytes: [UInt8]) -> Bool {
    Kinds.decodesQuickly(bytes.span.bytes, work: Self.work)
  }

  private func isQuick(_ fill: (inout Kinds) -> Void) throws -> Bool {
    var message = Kinds()
    fill(&message)
    return isQuick(try message.serializedBytes())
  }

  @Test func whatIsCopiedIsQuick() throws {
    #expect(isQuick([]))
    #expect(try isQuick { $0.oneBytes = Self.long })
    #expect(try isQuick { $0.oneString = String(repeating: "s", count: 1 << 20) })
    #expect(try isQuick { $0.manyBytes = [[1, 2], Self.long, [], Self.long] })
    #expect(try isQuick { $0.packedDouble = Array(repeating: 0.5, count: 100_000) })
    #expect(try isQuick { $0.packedFixed32 = Array(repeating: 7, count: 100_000) })
    #expect(try isQuick { $0.recursive.recursive.oneBytes = Self.long })
    #expect(isQuick(WireBytes.delimited(27, WireBytes.delimited(15, Self.long)) + WireBytes.tag(1, 0) + [5]))
  }

  @Test func whatConsistsOfSmallValuesIsNot() throws {
    let count = Self.work
    #expect(try !isQuick { $0.manyString = Array(repeating: "", count: count) })
    #expect(try !isQuick { $0.manyNested = Array(repeating: Kinds.Nested(), count: count) })
    #expect(try !isQuick { $0.packedInt32 = Array(repeating: 1, count: count + 1) })
    #expect(try !isQuick { $0.packedBool = Array(repeating: true, count: count + 1) })
    #expect(try !isQuick { $0.recursive.manyNested = Array(repeating: Kinds.Nested(), count: count) })
    #expect(try !isQuick { $0.mapStringBytes = ["key": Self.long] })
    // The same field again and again, strings below the bound, an unknown field, a group.
    #expect(!isQuick((0..<count).flatMap { _ in WireBytes.tag(1, 0) + [5] }))
    #expect(!isQuick((0..<20).flatMap { _ in WireBytes.delimited(14, Array(Self.long.prefix(1000))) }))
    #expect(!isQuick(WireBytes.delimited(5000, Self.long)))
    #expect(!isQuick(WireBytes.tag(5000, 3) + WireBytes.tag(5000, 4)))
  }

  /// A string whose UTF-8 is not checked is one that may have to be repaired.
  @Test func whatIsRepairedIsNot() {
    let invalid = [UInt8](repeating: 0xFF, count: 1 << 20)
    let (string, bytes) = (WireBytes.delimited(14, invalid), WireBytes.delimited(15, invalid))
    let (repaired, copied) = (
      AllKinds2.decodesQuickly(string.span.bytes, work: Self.work),
      AllKinds2.decodesQuickly(bytes.span.bytes, work: Self.work)
    )
    #expect(!repaired)
    #expect(copied)
  }

  /// Work before and after what is copied counts as much.
  @Test func workAddsUp() {
    let half = (0..<Self.work / 4).flatMap { _ in WireBytes.tag(1, 0) + [5] }
    let long = WireBytes.delimited(15, Self.long)
    #expect(isQuick(half + long + half))
    #expect(!isQuick(half + long + half + half))
    #expect(!isQuick(half + WireBytes.delimited(27, half + long) + half))
  }

  /// Levels are counted without recursion as deep as the input likes.
  @Test func deepMessagesAreNotQuick() {
    func nested(_ depth: Int) -> [UInt8] {
      (0..<depth).reduce(WireBytes.delimited(15, Self.long)) { bytes, _ in WireBytes.delimited(27, bytes) }
    }
    #expect(isQuick(nested(8)))
    #expect(!isQuick(nested(9)))
    #expect(!isQuick(nested(100)))
  }

  /// Decoding ends where the walk ends.
  @Test func malformedMessagesAreQuick() {
    #expect(isQuick([0xFF]))
    #expect(isQuick(WireBytes.tag(15, 2) + WireBytes.varint(1 << 40) + Self.long))
    #expect(isQuick(WireBytes.delimited(27, [0] + Self.long)))
  }
}
