import Foundation

/// One run of the tool: all files of one target.
struct Generation {
  /// The target to generate for.
  var target: ProtoTarget
  /// The targets with `.proto` files that it depends on; the generated files import their modules.
  var dependencies: [ProtoTarget]
  /// The directory for generated files.
  var output: URL
  /// The directory for temporary files of the tool.
  var scratch: URL

  /// The files that the tool reads, including every file that could be imported.
  var inputs: [URL] {
    let roots = Set(([target] + dependencies).flatMap(\.roots))
    let imports = Set(roots.flatMap { protoFiles(below: $0) } + target.protos.map(\.file))
    return [target.configurationFile] + namedFiles + imports.sorted { $0.path < $1.path }
      + (mapsModules ? [mappingFile] : [])
  }

  /// The files named by the target's options.
  private var namedFiles: [URL] {
    let directory = target.configurationFile.deletingLastPathComponent()
    let paths = Configuration.pathOptions.sorted().flatMap { target.configuration.options[$0] ?? [] }
    return paths.map { directory.resolving($0) }
  }

  /// The files that the tool writes.
  var outputs: [URL] { outputNames.map { output.appendingPathComponent($0) } }

  /// A source of the target with the name of a file that the tool writes, which a module cannot have twice: it was generated
  /// by hand before.
  func clash(with sources: [URL]) -> URL? {
    let names = Set(outputs.map(\.lastPathComponent))
    return sources.first { names.contains($0.lastPathComponent) }
  }

  /// The arguments for the tool; it reads the rest from the configuration.
  var arguments: [String] {
    var arguments = ["--configuration", target.configurationFile.path, "--output", output.path]
    for root in dependencies.flatMap(\.roots) { arguments += ["-I", root.path] }
    arguments += ["--option", "\(Self.namingOption)=\(naming)"]
    if mapsModules { arguments += ["--option", "\(Self.mappingOption)=\(mappingFile.path)"] }
    for name in outputNames { arguments += ["--expect", name] }
    if target.configuration.protos == nil { arguments += ["--"] + target.protos.map(\.file.path) }
    return arguments
  }

  /// Writes the files that the tool needs in addition to those of the target.
  func prepare() throws {
    guard mapsModules else { return }
    let text = dependencies.map(\.moduleMapping).joined()
    let current = try? String(contentsOf: mappingFile, encoding: .utf8)
    if current != text { try text.write(to: mappingFile, atomically: true, encoding: .utf8) }
  }

  private var mappingFile: URL { scratch.appendingPathComponent("module-mappings.textproto") }

  /// Whether to pass the generator a file of module mappings; a target may have its own.
  private var mapsModules: Bool {
    !dependencies.isEmpty && target.configuration.options[Self.mappingOption] == nil
  }

  private static let mappingOption = "ProtoPathModuleMappings"
  private static let namingOption = "FileNaming"

  /// The default is a full path, because two files in a module cannot have the same name, even in different
  /// directories.
  private var naming: String {
    target.configuration.options[Self.namingOption]?.last ?? "PathToUnderscores"
  }

  /// The names of the generated files, which a build must know in advance.
  private var outputNames: [String] {
    target.protos.flatMap { proto -> [String] in
      let base = outputBase(of: proto.name)
      return [base + ".pb.swift", base + ".grpc.swift"]
    }
  }

  private func outputBase(of name: String) -> String {
    let base = name.hasSuffix(".proto") ? String(name.dropLast(".proto".count)) : name
    switch naming {
    case "PathToUnderscores": return base.replacingOccurrences(of: "/", with: "_")
    case "DropPath": return base.split(separator: "/").last.map(String.init) ?? base
    default: return base
    }
  }
}

extension ProtoTarget {
  /// The part of the module mappings for this target.
  fileprivate var moduleMapping: String {
    let files = protos.map { "  proto_file_path: \(Self.quoted($0.name))\n" }.joined()
    return "mapping {\n  module_name: \(Self.quoted(module))\n\(files)}\n"
  }

  /// A string of the mapping file.
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
