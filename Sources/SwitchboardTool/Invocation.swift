/// What the user asks the tool to do.
enum Invocation: Hashable {
  case help(HelpTopic)
  case version
  case generate(GenerateArguments)
}

/// What there is help about.
enum HelpTopic: String, Hashable, CaseIterable {
  case overview
  case generate
}

/// The arguments of `switchboard generate`.
struct GenerateArguments: Hashable {
  /// Where imports and files are looked up, before the tool's own directories.
  var includeDirectories: [String] = []
  /// Where generated files go.
  var output = ""
  /// The generator's options as the user wrote them, each `Key=Value`.
  var options: [String] = []
  /// A configuration file that adds to all of these.
  var configuration: String?
  /// A file with a `FileDescriptorSet` to use instead of sources.
  var descriptorSet: String?
  /// The only files to write, if not empty, and to write in any case.
  var expected: [String] = []
  /// The `.proto` files to generate for.
  var files: [String] = []
}

/// Arguments that the tool does not understand.
struct UsageError: Error, Hashable {
  /// What is wrong, and what would be right.
  var message: String
}
