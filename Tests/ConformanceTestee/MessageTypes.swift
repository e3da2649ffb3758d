import ConformanceMessages
import SwitchboardProtobuf

/// The messages of the conformance suite.
enum MessageTypes {
  private static let types: [any Message.Type] = [
    ProtobufTestMessages_Proto2_TestAllTypesProto2.self,
    ProtobufTestMessages_Proto2_TestAllRequiredTypesProto2.self,
    ProtobufTestMessages_Proto2_UnknownToTestAllTypes.self,
    ProtobufTestMessages_Proto3_TestAllTypesProto3.self,
    ProtobufTestMessages_Editions_Proto2_TestAllTypesProto2.self,
    ProtobufTestMessages_Editions_Proto2_TestAllRequiredTypesProto2.self,
    ProtobufTestMessages_Editions_Proto2_UnknownToTestAllTypes.self,
    ProtobufTestMessages_Editions_Proto3_TestAllTypesProto3.self,
    ProtobufTestMessages_Editions_TestAllTypesEdition2023.self,
  ]

  /// All extensions of these messages.
  static let extensions: ExtensionRegistry =
    ProtobufTestMessages_Proto2_TestMessagesProto2_Extensions
    .union(ProtobufTestMessages_Editions_Proto2_TestMessagesProto2Editions_Extensions)
    .union(ProtobufTestMessages_Editions_TestMessagesEdition2023_Extensions)

  /// The types that an `Any` may hold.
  static let registry = TypeRegistry(types, extensions: extensions)

  /// The type with this full name.
  static func type(named name: String) -> (any Message.Type)? {
    types.first { $0.protoMessageName == name }
  }

  /// The name of the edition's message that is equivalent to the message `name` of proto2 or proto3.
  static func edition(of name: String) -> String {
    let package = "protobuf_test_messages."
    guard name.hasPrefix(package) else { return name }
    let rest = name.dropFirst(package.count)
    return rest.hasPrefix("proto") ? "\(package)editions.\(rest)" : name
  }
}
