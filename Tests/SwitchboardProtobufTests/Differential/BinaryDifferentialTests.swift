import SwitchboardProtobuf
import TestMessages
import Testing

/// The same bytes for libprotobuf and for us: both accept or reject them, and accepted messages are written as the same
/// bytes.
@Suite struct BinaryDifferentialTests {
  private let comparison: Comparison

  init() throws { comparison = try Comparison() }

  @Test(arguments: 0..<100)
  func agreesOnProto3(seed: Int) throws {
    try comparison.compareBinary(Switchboard_Testing_AllKinds3.self, seed: seed)
  }

  @Test(arguments: 0..<100)
  func agreesOnProto2(seed: Int) throws {
    try comparison.compareBinary(Switchboard_Testing_AllKinds2.self, seed: seed)
  }
}

private let replacementCharacter = Array("\u{FFFD}".utf8)

extension Comparison {
  fileprivate func compareBinary<M: Message>(_ type: M.Type, seed: Int) throws {
    for bytes in messages(of: type, seed: seed) {
      let theirs = try? reference.convert(M.protoMessageName, from: .binary, bytes, to: .binary)
      let ours = try? M(serializedBytes: bytes, extensions: TestProtos.extensions, partial: true)
      #expect((theirs != nil) == (ours != nil), "verdict on \(bytes)")
      guard let ours, let theirs else { continue }
      let again = try deterministicBytes(of: ours)
      // If a schema does not require UTF-8, libprotobuf keeps invalid bytes and we replace them.
      if !again.contains(replacementCharacter) || bytes.contains(replacementCharacter) {
        // We keep the bytes of unknown fields, libprotobuf the values: a varint with redundant bytes differs.
        let canonical = again == theirs.bytes ? again : try convert(type, from: .binary, again, to: .binary)
        #expect(canonical == theirs.bytes, "re-encoding of \(bytes)")
      }
      #expect(ours.isInitialized == theirs.isInitialized, "initialization of \(bytes)")
      #expect(try again.count == ours.serializedSize())
    }
  }
}
