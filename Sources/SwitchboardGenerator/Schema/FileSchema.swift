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

  /// Those at the top, and all that there are, each before what is nested in it.
  var messages: [Int] = []
  var allMessages: Range<Int> = 0..<0
  var enums: [Int] = []
  var extensions: [ExtensionSchema] = []
  var services: [ServiceSchema] = []
}
