import SwitchboardDescriptors

/// A `.proto` file.
struct FileSchema {
  let name: String
  let package: String
  /// What the names of the Swift types begin with.
  let prefix: String
  /// The module of its types, where it is not the one that is generated for.
  let module: String?
  let features: Features
  let descriptor: Google_Protobuf_FileDescriptorProto

  var messages: [Int] = []
  var enums: [Int] = []
  var extensions: [ExtensionSchema] = []
  var services: [ServiceSchema] = []
}
