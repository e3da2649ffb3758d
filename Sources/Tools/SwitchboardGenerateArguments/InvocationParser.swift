extension Invocation {
  /// Parses the arguments after the verb.
  package init(arguments: [String]) throws(UsageError) {
    var parsed = GenerateArguments()
    var cursor = ArgumentCursor(arguments)
    while let item = cursor.next() {
      switch item {
      case .operand(let file):
        guard file.hasSuffix(".proto") || !file.contains("=") else {
          throw UsageError(message: "'\(file)' is no .proto file: write --option \(file), if it is an option")
        }
        parsed.files.append(file)
      case .flag("--help"), .flag("-h"):
        self = .help
        return
      case .flag("--version"):
        self = .version
        return
      case .flag(let flag): try parsed.take(flag, from: &cursor)
      }
    }
    try parsed.check()
    self = .generate(parsed)
  }
}

extension GenerateArguments {
  fileprivate static let flags =
    "-I (--include), --output (-o), --option, --configuration, --expect, --descriptor-set or --help"

  /// Consumes a flag and its value.
  fileprivate mutating func take(_ flag: String, from cursor: inout ArgumentCursor) throws(UsageError) {
    switch flag {
    case "-I", "--include":
      includeDirectories.append(try cursor.value(of: flag, called: "directory"))
    case "-o", "--output":
      let directory = try cursor.value(of: flag, called: "directory")
      guard output.isEmpty else { throw UsageError(message: "\(flag) is given twice") }
      output = directory
    case "--option":
      options.append(try Self.option(try cursor.value(of: flag, called: "Key=Value"), after: flag))
    case "--expect":
      expected.append(try cursor.value(of: flag, called: "file"))
    case "--configuration":
      try Self.set(&configuration, to: try cursor.value(of: flag, called: "file"), by: flag)
    // The second spelling is protoc's.
    case "--descriptor-set", "--descriptor-set-in":
      try Self.set(&descriptorSet, to: try cursor.value(of: flag, called: "file"), by: flag)
    default:
      throw UsageError(message: "unknown flag '\(flag)': expected \(Self.flags)")
    }
  }

  private static func option(_ text: String, after flag: String) throws(UsageError) -> String {
    guard text.contains("="), !text.hasPrefix("=") else {
      throw UsageError(message: "\(flag) needs a Key=Value, not '\(text)'")
    }
    return text
  }

  private static func set(_ variable: inout String?, to value: String, by flag: String) throws(UsageError) {
    guard variable == nil else { throw UsageError(message: "\(flag) is given twice") }
    variable = value
  }

  /// Checks the arguments as a whole.
  fileprivate func check() throws(UsageError) {
    if output.isEmpty { throw UsageError(message: "--output DIR is missing") }
    if descriptorSet != nil && (configuration != nil || !includeDirectories.isEmpty) {
      throw UsageError(
        message: "--descriptor-set replaces sources and cannot be combined with -I and --configuration"
      )
    }
    if files.isEmpty && descriptorSet == nil && configuration == nil {
      throw UsageError(message: "no .proto files to generate for")
    }
  }
}
