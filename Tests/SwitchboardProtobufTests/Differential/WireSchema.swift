import SwitchboardDescriptors

/// The part of a schema that is necessary to generate bytes for its messages.
struct WireSchema {
  typealias Field = Google_Protobuf_FieldDescriptorProto

  struct MessageType {
    var fields: [Field]
    /// Whether strings must be UTF-8; of the dialects in libprotobuf 3.21, only `proto3` requires it.
    let checksStrings: Bool
    /// Whether it is the entry of a map.
    let isMapEntry: Bool
  }

  /// The messages by full name, with a leading dot as in descriptors.
  private(set) var messages: [String: MessageType] = [:]
  /// The values of the enums, by the full name of the enum.
  private(set) var enumNumbers: [String: [Int32]] = [:]

  /// Reads the files of a compiler's request.
  init(request: [UInt8]) throws {
    let files = try Google_Protobuf_Compiler_CodeGeneratorRequest(serializedBytes: request).protoFile
    var extensions: [Field] = []
    for file in files {
      let scope = file.package.isEmpty ? "" : ".\(file.package)"
      let checksStrings = file.syntax == "proto3"
      for message in file.messageType { add(message, scope, checksStrings, &extensions) }
      for type in file.enumType { enumNumbers["\(scope).\(type.name)"] = type.value.map(\.number) }
      extensions += file.extension
    }
    for field in extensions {
      guard let extended = messages[field.extendee] else { continue }
      messages[field.extendee] = MessageType(
        fields: extended.fields + [field],
        checksStrings: extended.checksStrings,
        isMapEntry: false
      )
    }
  }

  private mutating func add(
    _ message: Google_Protobuf_DescriptorProto,
    _ scope: String,
    _ checksStrings: Bool,
    _ extensions: inout [Field]
  ) {
    let name = "\(scope).\(message.name)"
    messages[name] = MessageType(
      fields: message.field,
      checksStrings: checksStrings,
      isMapEntry: message.options.mapEntry
    )
    for type in message.enumType { enumNumbers["\(name).\(type.name)"] = type.value.map(\.number) }
    extensions += message.extension
    for nested in message.nestedType { add(nested, name, checksStrings, &extensions) }
  }
}
