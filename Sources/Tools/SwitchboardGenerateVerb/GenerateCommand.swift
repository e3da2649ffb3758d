import SwitchboardGenerateArguments
import SwitchboardGenerator
import SwitchboardToolSupport

/// The command `switchboard generate`.
struct GenerateCommand {
  private let arguments: GenerateArguments
  private let workers = Workers(processorCount())

  init(_ arguments: GenerateArguments) throws(CommandFailure) {
    self.arguments = try arguments.configured()
  }

  /// Generates and writes all files, unless something is wrong with the request.
  func run() async throws(CommandFailure) {
    let mappings = try readMappings()
    let request = try await arguments.request(with: workers)
    arguments.shadowedImports(of: request.files).forEach(complain)
    let generator = try CommandFailure.catching(.failed) { () throws(GeneratorError) in
      try Generator(request, mappings: mappings, hasFile: arguments.hasFile)
    }
    let outputs: [GeneratorOutput]
    do throws(GeneratorError) { outputs = try generator.outputs() } catch {
      guard !error.findings.isEmpty else { throw CommandFailure("\(error)", exitCode: .failed) }
      throw CommandFailure(lines: error.findings.map { line("error", of: $0) }, exitCode: .failed)
    }
    for doubt in generator.doubts { complain(line("warning", of: doubt)) }
    for warning in generator.warnings { complain("switchboard: warning: \(warning)") }
    let missing = try missingNames(in: outputs.flatMap(\.names))
    let output = try openOutput()
    // Each file is written by the thread that generated it, so that only a few are in memory. The first error is
    // reported that would also come first if there were only one thread.
    try await workers.run(outputs.count) { index in
      Result { () throws(CommandFailure) in try Self.write(outputs[index], to: output) }
    } take: { (written: Result<Void, CommandFailure>) throws(CommandFailure) in
      try written.get()
    }
    for name in missing {
      try Self.write(
        GeneratedFile(name: name, content: "// The .proto file has nothing for this file.\n"),
        to: output
      )
    }
  }

  /// What is wrong in a file, with the path at which it was found.
  private func line(_ severity: String, of finding: RuleFinding) -> String {
    finding.line(severity, path: arguments.pathOfImport(finding.file))
  }

  private static func write(
    _ source: GeneratorOutput,
    to output: OutputDirectory
  ) throws(CommandFailure) {
    let files = try CommandFailure.catching(.failed) { () throws(GeneratorError) in try source.files() }
    for file in files { try write(file, to: output) }
  }

  private static func write(_ file: GeneratedFile, to output: OutputDirectory) throws(CommandFailure) {
    try CommandFailure.catching(.failed) { () throws(SystemError) in
      try output.write(Array(file.content.utf8), to: file.name)
    }
  }

  private func openOutput() throws(CommandFailure) -> OutputDirectory {
    do throws(SystemError) {
      return try OutputDirectory(making: arguments.output)
    } catch {
      throw CommandFailure(
        "\(error) (--output must name a writable directory, or one that can be created)",
        exitCode: .failed
      )
    }
  }

  /// Reads the mapping files that the options name; fails if the options are invalid.
  private func readMappings() throws(CommandFailure) -> [String: String] {
    try CommandFailure.catching(.usage) { () throws(GeneratorError) in
      try Generator.checkRepetition(arguments.options)
    }
    try checkConfiguredOptions()
    let paths: [String]
    do throws(GeneratorError) {
      paths = try Generator.mappingPaths(inParameter: arguments.parameter)
    } catch { throw failure(error, of: error.option) }
    var mappings: [String: String] = [:]
    for path in paths {
      let bytes = try CommandFailure.catching(.failed) { () throws(SystemError) in try readFile(path) }
      mappings[path] = String(decoding: bytes, as: UTF8.self)
    }
    return mappings
  }

  /// Checks each option of the configuration file alone: an error then says where it is.
  private func checkConfiguredOptions() throws(CommandFailure) {
    for option in arguments.configuredOptions {
      do throws(GeneratorError) { try Generator.checkOption(option) } catch {
        throw failure(error, of: option)
      }
    }
    // A list may set an option twice.
    do throws(GeneratorError) {
      try Generator.checkRepetition(arguments.configuredOptions)
    } catch { throw failure(error, of: error.option) }
  }

  /// What is wrong with an option, where the configuration file sets it, if it does.
  private func failure(_ error: GeneratorError, of option: String?) -> CommandFailure {
    guard let origin = option.flatMap({ arguments.origins[$0] }) else {
      return CommandFailure("\(error)", exitCode: .usage)
    }
    return CommandFailure(lines: ["\(origin): error: \(error)"], exitCode: .failed)
  }

  /// The files that the user expects and that have no content, if the user lists the expected files. Fails if any other
  /// would be generated.
  private func missingNames(in names: [String]) throws(CommandFailure) -> [String] {
    guard !arguments.expected.isEmpty else { return [] }
    let expected = Set(arguments.expected)
    if let surplus = names.first(where: { !expected.contains($0) }) {
      throw CommandFailure(
        "the generator produces \(surplus), which no --expect names; in a package build, "
          + "change Package.swift so that the build is planned again",
        exitCode: .failed
      )
    }
    let generated = Set(names)
    return arguments.expected.filter { !generated.contains($0) }
  }
}
