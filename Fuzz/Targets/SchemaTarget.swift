import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardProtobuf

@testable import SwitchboardCommand

/// Descriptors as a server may send them to the command: whatever it makes of them, it neither traps nor takes longer than
/// they are large.
enum SchemaTarget {
  static func run(_ bytes: [UInt8]) {
    guard let set = try? Google_Protobuf_FileDescriptorSet(serializedBytes: bytes),
      let schema = try? Schema(set.file)
    else { return }
    var texts = ProtoText(schema, Painter(hasColor: true))
    for name in schema.symbolNames.prefix(50) {
      guard let symbol = schema.symbol(named: name) else { continue }
      _ = texts.text(of: symbol)
      _ = try? DescriptorJSON(schema, symbol)
    }
    for index in schema.files.indices.prefix(20) { _ = texts.text(ofFile: index) }
    for service in schema.services.prefix(20) {
      var tree = SchemaTree(schema, .plain)
      tree.draw(service)
      for method in service.methods.prefix(20) { _ = try? schema.dynamicMethod(method) }
    }
    for type in schema.pool.messageTypes.prefix(50) {
      // A template is a message of its type.
      let text = RequestTemplate(of: type).text
      var options = JSONDecodingOptions()
      options.typeRegistry = schema.types
      _ = try? DynamicMessage(type, jsonString: text, options: options)
    }
  }
}
