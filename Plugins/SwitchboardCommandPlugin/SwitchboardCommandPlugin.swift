import Foundation
import PackagePlugin

/// Generates Swift from `.proto` files into the package, for users who commit generated code.
@main struct SwitchboardCommandPlugin: CommandPlugin {
  private static let usage = """
    usage: swift package --allow-writing-to-package-directory switchboard-generate [--target NAME]... [--output DIR]

    Generates for each target NAME, or for every target of the package that has a switchboard.json, into its
    directory Generated. With a single target, --output selects another DIR.
    """

  func performCommand(context: PluginContext, arguments: [String]) throws {
    var extractor = ArgumentExtractor(arguments)
    let names = extractor.extractOption(named: "target")
    let outputs = extractor.extractOption(named: "output")
    let wantsHelp = extractor.extractFlag(named: "help") > 0
    if wantsHelp { return print(Self.usage) }
    guard extractor.remainingArguments.isEmpty, outputs.isEmpty || (outputs.count, names.count) == (1, 1)
    else {
      throw CommandError("invalid arguments: \(arguments.joined(separator: " "))\n\(Self.usage)")
    }
    let tool = try context.tool(named: "switchboard-generate").url
    for generation in try generations(context: context, names: names, output: outputs.first) {
      try FileManager.default.createDirectory(at: generation.output, withIntermediateDirectories: true)
      try generation.prepare()
      try run(tool, arguments: generation.arguments)
      print("Generated \(generation.outputs.count) files in \(generation.output.path)")
    }
  }

  private func generations(context: PluginContext, names: [String], output: String?) throws -> [Generation] {
    let targets = try names.isEmpty ? context.package.targets : context.package.targets(named: names)
    let generations = try targets.compactMap { $0 as? any SourceModuleTarget }.compactMap { target in
      let directory = output.map { context.package.directoryURL.resolving($0) }
      return try Generation(
        of: target,
        output: directory ?? target.directoryURL.appendingPathComponent("Generated"),
        scratch: context.pluginWorkDirectoryURL
      )
    }
    if generations.isEmpty || !names.isEmpty && generations.count < names.count {
      throw CommandError(
        "no \(Configuration.fileName) in the directory of \(names.isEmpty ? "any target" : "the given targets")"
      )
    }
    return generations
  }

  private func run(_ tool: URL, arguments: [String]) throws {
    let process = Process()
    process.executableURL = tool
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw CommandError("the generator ended with exit code \(process.terminationStatus)")
    }
  }
}

/// A target that lists the command in its `plugins:` is told what it needs. The package manager would only say which protocol the
/// plugin lacks.
extension SwitchboardCommandPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [PackagePlugin.Command] {
    throw CommandError(
      """
      \(target.name) lists SwitchboardCommandPlugin in its plugins:, and a command runs in no build: list SwitchboardPlugin, \
      or list none and run 'swift package switchboard-generate'
      """
    )
  }
}

/// Why the command cannot run.
private struct CommandError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}
