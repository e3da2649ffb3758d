/// The parsed arguments of the verb `generate`.
package enum Invocation: Hashable {
  case help
  case version
  case generate(GenerateArguments)
}

/// What the verb `generate` is to do.
package struct GenerateArguments: Hashable {
  /// The directories in which imports and files are looked up, before the tool's own.
  package var includeDirectories: [String] = []
  /// The directory for generated files.
  package var output = ""
  /// The generator's options as given by the user, each `Key=Value`.
  package var options: [String] = []
  /// Those of the configuration file, before which come those that any configuration sets.
  package var configuredOptions: [String] = []
  /// Where the configuration file sets an option: the file, the line and the column.
  package var origins: [String: String] = [:]
  /// All options, in the order in which the last of one counts.
  package var allOptions: [String] {
    // As the plugins have it, so that all ways to generate from a configuration write the same files.
    (configuration == nil ? [] : ["FileNaming=PathToUnderscores"]) + configuredOptions + options
  }
  /// The path of a configuration file to merge with these arguments.
  package var configuration: String?
  /// The path of a file with a `FileDescriptorSet` to use instead of sources.
  package var descriptorSet: String?
  /// If not empty: the files to write, whether or not there is something to generate for them.
  package var expected: [String] = []
  /// The `.proto` files to generate for.
  package var files: [String] = []
}

/// An error in the arguments.
package struct UsageError: Error, Hashable {
  /// What is wrong, and what would be accepted.
  package var message: String
}
