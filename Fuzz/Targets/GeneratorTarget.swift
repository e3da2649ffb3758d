import SwitchboardDescriptors
import SwitchboardGenerator
import SwitchboardProtobuf

/// The generator, called like a plugin of protoc.
enum GeneratorTarget {
  static func run(_ input: [UInt8]) throws {
    guard let response = try? Generator.respond(to: input) else { return }
    _ = try Google_Protobuf_Compiler_CodeGeneratorResponse(serializedBytes: response)
  }
}
