import ReferenceSupport
import SwitchboardDescriptors
import SwitchboardProtoCompiler
import SwitchboardProtobuf
import TestMessages
import Testing

/// The same bytes for libprotobuf and for us: both accept them or both refuse them, and what was accepted is written
/// again as the same bytes.
@Suite struct BinaryDifferentialTests {
  private let comparison: Comparison

  init() throws { comparison = try Comparison() }

  @Test(arguments: 0..<300)
  func agreesOnProto3(seed: Int) throws {
    try comparison.compare(Switchboard_Testing_AllKinds3.self, seed: seed)
  }

  @Test(arguments: 0..<300)
  func agreesOnProto2(seed: Int) throws {
    try comparison.compare(Switchboard_Testing_AllKinds2.self, seed: seed)
  }
}

private let replacementCharacter = Array("\u{FFFD}".utf8)

/// Compares one type at a time with the reference.
struct Comparison: Sendable {
  private let reference: Reference
  private let schema: WireSchema

  init() throws {
    let compiler = ProtoCompiler(includeDirectories: [TestProtos.directory, "/usr/include"])
    let request = try compiler.compile(TestProtos.files).request
    reference = try Reference(request: request)
    schema = try WireSchema(request: request)
  }

  func compare<M: Message>(_ type: M.Type, seed: Int) throws {
    var random = RandomMessage(schema: schema, random: SeededGenerator(seed: seed))
    for _ in 0..<20 {
      let bytes = random.bytes(of: ".\(M.protoMessageName)")
      try compare(type, bytes)
      try compare(type, random.damaged(bytes))
    }
  }

  func compare<M: Message>(_ type: M.Type, _ bytes: [UInt8]) throws {
    let theirs = try? reference.convert(M.protoMessageName, from: .binary, bytes, to: .binary)
    let ours = try? M(serializedBytes: bytes, extensions: TestProtos.extensions, partial: true)
    #expect((theirs != nil) == (ours != nil), "verdict on \(bytes)")
    guard let ours, let theirs else { return }
    var deterministic = BinaryEncodingOptions()
    deterministic.deterministic = true
    let again = try ours.serializedBytes(partial: true, options: deterministic)
    // Where a schema does not ask for UTF-8, libprotobuf keeps what is none and we replace it.
    if !again.contains(replacementCharacter) || bytes.contains(replacementCharacter) {
      #expect(again == theirs.bytes, "re-encoding of \(bytes)")
    }
    #expect(ours.isInitialized == theirs.isInitialized, "initialization of \(bytes)")
    #expect(try again.count == ours.serializedSize())
  }
}
