import SwitchboardGenerator
import SwitchboardToolSupport

/// The command `switchboard generate`.
struct GenerateCommand {
  private let arguments: GenerateArguments

  init(_ arguments: GenerateArguments) throws(CommandFailure) {
    self.arguments = try arguments.configured()
  }

  /// Generates all files, then writes them.
  func run() throws(CommandFailure) {
    let mappings = try readMappings()
    let request = try arguments.request()
    let generated = try Self.reporting(.failed) { () throws(GeneratorError) in
      try Generator(request: request, mappings: mappings).files()
    }
    let files = try settled(generated)
    let output = try openOutput()
    for file in files {
      try CommandFailure.catching(.failed) { () throws(SystemError) in
        try output.write(Array(file.content.utf8), to: file.name)
      }
    }
  }

  private func openOutput() throws(CommandFailure) -> OutputDirectory {
    do throws(SystemError) {
      return try OutputDirectory(making: arguments.output)
    } catch {
      throw CommandFailure(
        "\(error) (--output must name a writable directory, or one that can be created)",
        exitCode: .usage
      )
    }
  }

  /// Reads the mapping files that the options name; fails if the options are invalid.
  private func readMappings() throws(CommandFailure) -> [String: String] {
    let paths = try Self.reporting(.usage) { () throws(GeneratorError) in
      try Generator.mappingPaths(inParameter: arguments.parameter)
    }
    var mappings: [String: String] = [:]
    for path in paths {
      let bytes = try CommandFailure.catching(.usage) { () throws(SystemError) in try readFile(path) }
      mappings[path] = String(decoding: bytes, as: UTF8.self)
    }
    return mappings
  }

  /// The files to write: all generated files or, if the user lists the expected files, exactly those.
  private func settled(_ files: [GeneratedFile]) throws(CommandFailure) -> [GeneratedFile] {
    guard !arguments.expected.isEmpty else { return files }
    let expected = Set(arguments.expected)
    if let surplus = files.first(where: { !expected.contains($0.name) }) {
      throw CommandFailure(
        "the generator produces \(surplus.name), which no --expect names; in a package build, "
          + "change Package.swift so that the build is planned again",
        exitCode: .failed
      )
    }
    let generated = Set(files.map(\.name))
    let missing = arguments.expected.filter { !generated.contains($0) }
    return files
      + missing.map { GeneratedFile(name: $0, content: "// The .proto file has nothing for this file.\n") }
  }

  /// Calls `body`; an error of the generator becomes a failure with `exitCode`.
  private static func reporting<R>(
    _ exitCode: CommandFailure.ExitCode,
    _ body: () throws(GeneratorError) -> R
  ) throws(CommandFailure) -> R {
    do {
      return try body()
    } catch {
      throw CommandFailure(error.description, exitCode: exitCode)
    }
  }
}
