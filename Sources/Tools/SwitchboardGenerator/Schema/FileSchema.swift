import SwitchboardSchema

/// A `.proto` file.
struct FileSchema {
  let name: String
  let package: String
  /// The prefix of the Swift types.
  let prefix: String
  /// The module of its types, or nil if it is the module being generated.
  let module: String?
  let features: Features
  let descriptor: FileDescriptor

  /// The top-level messages; below, all messages, each before those nested in it.
  var messages: [Int] = []
  var allMessages: Range<Int> = 0..<0
  var enums: [Int] = []
  var extensions: [ExtensionSchema] = []
  var services: [ServiceSchema] = []
}
