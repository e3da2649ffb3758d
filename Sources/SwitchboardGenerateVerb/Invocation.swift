/// The parsed arguments of the verb `generate`.
enum Invocation: Hashable {
  case help
  case version
  case generate(GenerateArguments)
}

/// What the verb `generate` is to do.
struct GenerateArguments: Hashable {
  /// The directories in which imports and files are looked up, before the tool's own.
  var includeDirectories: [String] = []
  /// The directory for generated files.
  var output = ""
  /// The generator's options as given by the user, each `Key=Value`.
  var options: [String] = []
  /// The path of a configuration file to merge with these arguments.
  var configuration: String?
  /// The path of a file with a `FileDescriptorSet` to use instead of sources.
  var descriptorSet: String?
  /// If not empty: the files to write, whether or not there is something to generate for them.
  var expected: [String] = []
  /// The `.proto` files to generate for.
  var files: [String] = []
}

/// An error in the arguments.
struct UsageError: Error, Hashable {
  /// What is wrong, and what would be accepted.
  var message: String
}
