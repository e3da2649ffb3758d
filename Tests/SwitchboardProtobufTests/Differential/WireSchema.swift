import SwitchboardDescriptors

/// What a schema says of its messages, as far as making bytes for them needs to know.
struct WireSchema {
  typealias Field = Google_Protobuf_FieldDescriptorProto

  struct MessageType {
    var fields: [Field]
    /// Whether strings must be UTF-8, which only `proto3` asks for among what libprotobuf 3.21 reads.
    let checksStrings: Bool
    /// Whether it stands for the entries of a map.
    let isMapEntry: Bool
  }

  /// The messages by their full names, with a dot in front as descriptors refer to them.
  private(set) var messages: [String: MessageType] = [:]
  /// The numbers of the enums' values by the enums' full names.
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
