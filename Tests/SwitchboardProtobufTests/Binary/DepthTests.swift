import SwitchboardProtobuf
import TestMessages
import Testing

/// The depth limit of binary input, for every kind of nesting.
@Suite struct DepthTests {
  private typealias Layer = @Sendable ([UInt8]) -> [UInt8]

  private static let layers: [Layer] = [
    { WireBytes.delimited(27, $0) },  // a message
    { WireBytes.tag(19_000, 3) + $0 + WireBytes.tag(19_000, 4) },  // an unknown group
    { WireBytes.tag(27, 3) + $0 + WireBytes.tag(27, 4) },  // a message that comes as a group
  ]

  @Test(arguments: layers.indices) func isLimited(_ index: Int) throws {
    func nested(_ depth: Int) -> [UInt8] { (0..<depth).reduce([]) { bytes, _ in Self.layers[index](bytes) } }
    #expect(throws: Never.self) { try AllKinds2(serializedBytes: nested(100)) }
    do {
      _ = try AllKinds2(serializedBytes: nested(101))
      Issue.record("101 levels are read")
    } catch {
      #expect(error.reason == .nestedTooDeep)
    }
  }

  /// A message in each entry of a map counts twice.
  @Test func isLimitedInMaps() throws {
    func nested(_ depth: Int) -> [UInt8] {
      (0..<depth).reduce([]) { bytes, _ in WireBytes.delimited(149, WireBytes.delimited(2, bytes)) }
    }
    #expect(throws: Never.self) { try AllKinds2(serializedBytes: nested(50)) }
    #expect(throws: DecodeError.self) { try AllKinds2(serializedBytes: nested(51)) }
  }
}
