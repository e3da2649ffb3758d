import SwitchboardDescriptors
import SwitchboardProtoCompiler
import SwitchboardProtobuf
import TestMessages
import Testing

/// Twice the items cost twice as much, for every field of the messages with all kinds of fields, in all formats. The
/// fields come from the descriptors, so new kinds are measured automatically.
@Suite(.needsCosts) struct LinearDecodingTests {
  static let types: [any Message.Type] = [
    AllKinds2.self, AllKinds3.self, Switchboard_Testing_RequiredBelow2.self,
    Google_Protobuf_Value.self, Google_Protobuf_Struct.self, Google_Protobuf_ListValue.self,
    Google_Protobuf_Any.self, Google_Protobuf_FieldMask.self, Google_Protobuf_Timestamp.self,
    Google_Protobuf_Duration.self, Google_Protobuf_StringValue.self, Google_Protobuf_Int32Value.self,
  ]

  static let names = types.map { $0.protoMessageName }

  private let costly: CostlyBytes

  init() throws {
    let compiler = ProtoCompiler(includeDirectories: [TestProtos.directory, "/usr/include"])
    costly = CostlyBytes(schema: try WireSchema(request: compiler.compile(TestProtos.files).request))
  }

  @Test(arguments: names, CostlyBytes.Shape.allCases)
  func everyFieldIsReadAndWrittenInLinearTime(_ name: String, in shape: CostlyBytes.Shape) throws {
    let type = try #require(Self.types.first { $0.protoMessageName == name })
    let fields = try #require(costly.schema.messages[".\(name)"]).fields
    try #require(!fields.isEmpty)
    for field in fields { try check(type, field, among: fields, in: shape) }
  }

  private func check<M: Message>(
    _ type: M.Type,
    _ field: CostlyBytes.Field,
    among fields: [CostlyBytes.Field],
    in shape: CostlyBytes.Shape
  ) throws {
    func bytes(_ count: Int) -> [UInt8]? { costly.bytes(count, of: field, among: fields, in: shape) }
    guard bytes(CostCheck.items) != nil else { return }
    let what = "\(M.protoMessageName).\(field.name), \(shape)"
    let input = try CostCheck.Inputs { try #require(bytes($0)) }
    try CostCheck.check(what, input) { _ = try read(type, $0) }
    // Everything is measured: no input is rejected.
    let messages = try #require(try? input.map { try read(type, $0) }, "\(what)")
    try CostCheck.check("\(what): writing", messages) { _ = try $0.serializedBytes(partial: true) }
    try checkJSON(what, messages)
    try checkText(what, messages)
  }

  private func read<M: Message>(_ type: M.Type, _ bytes: [UInt8]) throws -> M {
    try M(serializedBytes: bytes, extensions: TestProtos.extensions, partial: true)
  }

  private func checkJSON<M: Message>(_ what: String, _ messages: CostCheck.Inputs<M>) throws {
    // Not every message has a JSON form.
    guard let json = try? messages.map({ try $0.jsonUTF8Bytes(partial: true) }) else { return }
    func read(_ bytes: [UInt8]) throws -> M {
      try M(jsonUTF8Bytes: bytes, extensions: TestProtos.extensions, partial: true)
    }
    #expect(throws: Never.self, "\(what)") { try read(json.twice) }
    try CostCheck.check("\(what): JSON", json) { _ = try read($0) }
    try CostCheck.check("\(what): writing JSON", messages) { _ = try $0.jsonUTF8Bytes(partial: true) }
  }

  private func checkText<M: Message>(_ what: String, _ messages: CostCheck.Inputs<M>) throws {
    var options = TextFormatEncodingOptions()
    // Indenting nested messages takes more for each level, and unknown fields cannot be read back.
    options.singleLine = true
    options.printUnknownFields = false
    func read(_ text: String) throws -> M {
      try M(textFormatString: text, extensions: TestProtos.extensions, partial: true)
    }
    let text = try messages.map { $0.textFormatString(options: options) }
    #expect(throws: Never.self, "\(what)") { try read(text.twice) }
    try CostCheck.check("\(what): text", text) { _ = try read($0) }
    // Map entries are sorted.
    try CostCheck.check("\(what): writing text", factor: 2.5, messages) {
      _ = $0.textFormatString(options: options)
    }
  }
}
