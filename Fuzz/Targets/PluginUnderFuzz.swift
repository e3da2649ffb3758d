import Foundation

/// The package plugins with an arbitrary `switchboard.json`, in a folder with two `.proto` files.
struct PluginUnderFuzz: Sendable {
  static let shared = PluginUnderFuzz()

  private let folder: URL

  private init() {
    // One per process.
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-fuzz-\(getpid())")
      .resolvingSymlinksInPath()
    for name in ["a.proto", "sub/b.proto"] {
      let file = folder.appendingPathComponent("target/\(name)")
      try? FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(),
        withIntermediateDirectories: true
      )
      try? Data("syntax = \"proto3\";\n".utf8).write(to: file)
    }
    atexit { try? FileManager.default.removeItem(at: PluginUnderFuzz.shared.folder) }
  }

  func run(_ input: [UInt8]) throws {
    let directory = folder.appendingPathComponent("target")
    let file = directory.appendingPathComponent(Configuration.fileName)
    try Data(input).write(to: file)
    let target: ProtoTarget
    do {
      guard let found = try ProtoTarget(module: "Fuzz", directory: directory) else {
        throw BrokenPromise(description: "the configuration was not found")
      }
      target = found
    } catch let error as ConfigurationError {
      // The error must name the file.
      let isClear =
        error.location.hasPrefix(file.path) && error.description.hasPrefix(error.location + ": ")
        && !error.problem.isEmpty
      return try BrokenPromise.unless(isClear, "an error is unclear: \(error)")
    }
    try check(target)
  }

  private func check(_ target: ProtoTarget) throws {
    let output = folder.appendingPathComponent("output")
    let generation = Generation(
      target: target,
      dependencies: [],
      output: output,
      scratch: folder.appendingPathComponent("scratch")
    )
    let outputs = generation.outputs
    try BrokenPromise.unless(outputs.count == 2 * target.protos.count, "the outputs are \(outputs)")
    for file in outputs {
      let isInside = file.standardizedFileURL.path.hasPrefix(output.path + "/")
      try BrokenPromise.unless(isInside, "\(file.path) is outside the output directory")
    }
    // Text from the configuration is a separate argument and is not taken for a flag.
    for (flag, path) in zip(generation.arguments, generation.arguments.dropFirst()) where flag == "-I" {
      try BrokenPromise.unless(path.hasPrefix("/"), "\(path) could be a flag")
    }
  }
}
