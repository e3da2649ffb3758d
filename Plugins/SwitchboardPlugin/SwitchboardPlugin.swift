import Foundation
import PackagePlugin

/// Generates Swift from a target's `.proto` files in every build.
@main struct SwitchboardPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let output = context.pluginWorkDirectoryURL.appendingPathComponent("Generated")
    let scratch = context.pluginWorkDirectoryURL
    guard let generation = try Generation(of: target, output: output, scratch: scratch) else {
      throw ConfigurationError(
        target.directoryURL.appendingPathComponent(Configuration.fileName),
        "the target '\(target.name)' uses SwitchboardPlugin, which needs this file; {} generates code for every "
          + ".proto file in its directory and below"
      )
    }
    if let source = generation.clash(with: target.sourceFiles.map(\.url)) {
      throw ConfigurationError(
        source,
        "the build generates a file of this name: delete this one, or remove SwitchboardPlugin from the target "
          + "'\(target.name)'"
      )
    }
    try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
    try generation.prepare()
    return [
      .buildCommand(
        displayName: "Generating Swift from the .proto files of \(target.name)",
        executable: try context.tool(named: "switchboard-generate").url,
        arguments: generation.arguments,
        inputFiles: generation.inputs,
        outputFiles: generation.outputs
      )
    ]
  }
}
