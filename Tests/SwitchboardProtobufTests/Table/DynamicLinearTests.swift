import SwitchboardDescriptors
import SwitchboardProtoCompiler
import SwitchboardProtobuf
import TestMessages
import Testing

/// Twice the items cost a dynamic message twice as much, for every field of the messages with all kinds of fields.
@Suite(.needsCosts) struct DynamicLinearTests {
  private static let names = [
    Switchboard_Testing_AllKinds2.protoMessageName, Switchboard_Testing_AllKinds3.protoMessageName,
  ]

  @Test(arguments: names, CostlyBytes.Shape.allCases)
  func everyFieldIsReadAndWrittenInLinearTime(_ name: String, in shape: CostlyBytes.Shape) throws {
    let compiler = ProtoCompiler(includeDirectories: [TestProtos.directory, "/usr/include"])
    let costly = CostlyBytes(schema: try WireSchema(request: compiler.compile(TestProtos.files).request))
    let type = try #require(DescriptorPool(TestPool.files).messageType(named: name))
    let fields = try #require(costly.schema.messages[".\(name)"]).fields
    for field in fields {
      func bytes(_ count: Int) -> [UInt8]? { costly.bytes(count, of: field, among: fields, in: shape) }
      guard bytes(CostCheck.items) != nil else { continue }
      let what = "\(name).\(field.name), \(shape)"
      let input = try CostCheck.Inputs { try #require(bytes($0)) }
      func read(_ bytes: [UInt8]) throws -> DynamicMessage {
        try DynamicMessage(type, serializedBytes: bytes, partial: true)
      }
      try CostCheck.check(what, input) { _ = try read($0) }
      let messages = try #require(try? input.map(read), "\(what)")
      try CostCheck.check("\(what): writing", messages) { _ = try $0.serializedBytes(partial: true) }
      guard let json = try? messages.map({ try $0.jsonUTF8Bytes(partial: true) }) else { continue }
      try CostCheck.check("\(what): JSON", json) {
        _ = try DynamicMessage(type, jsonUTF8Bytes: $0, partial: true)
      }
    }
  }
}
