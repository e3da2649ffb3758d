import SwitchboardGenerator
import SwitchboardToolSupport

/// The command `switchboard generate`.
struct GenerateCommand {
  private let arguments: GenerateArguments

  init(_ arguments: GenerateArguments) throws(CommandFailure) {
    self.arguments = try arguments.configured()
  }

  /// Generates all files and then writes them.
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
        "\(error) (--output names a directory that can be written to, or one to make)",
        exitCode: .usage
      )
    }
  }

  /// The mappings that the options name, by their paths; that the options are right shows here as well.
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

  /// The files to write: those that were generated or, where the user says which ones to expect, those.
  private func settled(_ files: [GeneratedFile]) throws(CommandFailure) -> [GeneratedFile] {
    guard !arguments.expected.isEmpty else { return files }
    let expected = Set(arguments.expected)
    if let surplus = files.first(where: { !expected.contains($0.name) }) {
      throw CommandFailure(
        "the generator makes \(surplus.name), which no --expect names; in a build of the package manager, "
          + "change Package.swift to have it planned anew",
        exitCode: .failed
      )
    }
    let generated = Set(files.map(\.name))
    let missing = arguments.expected.filter { !generated.contains($0) }
    return files + missing.map { GeneratedFile(name: $0, content: "// Nothing in the .proto goes here.\n") }
  }

  /// Calls `body`, and ends with `exitCode` where the generator refuses.
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
