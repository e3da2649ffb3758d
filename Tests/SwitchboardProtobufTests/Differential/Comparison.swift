import ReferenceSupport
import SwitchboardProtoCompiler
import SwitchboardProtobuf
import TestSupport

/// The test messages in libprotobuf, and random bytes for them.
struct Comparison: Sendable {
  let reference: Reference
  private let schema: WireSchema

  init() throws {
    let compiler = ProtoCompiler(includeDirectories: [TestProtos.directory, "/usr/include"])
    let request = try compiler.compile(TestProtos.files).request
    reference = try Reference(request: request)
    schema = try WireSchema(request: request)
  }

  /// Bytes that are valid messages of a type, or nearly.
  func messages<M: Message>(of type: M.Type, seed: Int, forJSON: Bool = false) -> [[UInt8]] {
    var random = RandomMessage(schema: schema, random: SeededGenerator(seed: seed), isForJSON: forJSON)
    return (0..<8).flatMap { _ in
      let bytes = random.bytes(of: ".\(M.protoMessageName)")
      return [bytes, random.damaged(bytes)]
    }
  }

  /// libprotobuf's conversion of a message to another format.
  func convert<M: Message>(
    _ type: M.Type,
    from input: Reference.Format,
    _ bytes: [UInt8],
    to output: Reference.Format
  ) throws -> [UInt8] {
    try reference.convert(M.protoMessageName, from: input, bytes, to: output).bytes
  }

  func deterministicBytes(of message: some Message) throws -> [UInt8] {
    var options = BinaryEncodingOptions()
    options.deterministic = true
    return try message.serializedBytes(partial: true, options: options)
  }
}
