import Foundation
import Testing

/// The plan of the plugins for a target's files and its switchboard.json.
@Suite final class GenerationTests {
  private let root = URL(fileURLWithPath: NSTemporaryDirectory() + "plugin-" + UUID().uuidString)

  deinit { try? FileManager.default.removeItem(at: root) }

  /// Writes files of a target named `name` and reads the target.
  private func target(_ name: String, _ files: [String: String]) throws -> ProtoTarget? {
    let directory = root.appendingPathComponent(name)
    for (path, content) in files {
      let file = directory.appendingPathComponent(path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(),
        withIntermediateDirectories: true
      )
      try Data(content.utf8).write(to: file)
    }
    return try ProtoTarget(module: name, directory: directory)
  }

  private func generation(_ target: ProtoTarget?, dependencies: [ProtoTarget?] = []) throws -> Generation {
    Generation(
      target: try #require(target),
      dependencies: dependencies.compactMap { $0 },
      output: root.appendingPathComponent("out"),
      scratch: root.appendingPathComponent("scratch")
    )
  }

  private func path(_ name: String) -> String { root.appendingPathComponent(name).path }

  @Test func usesEveryProtoByDefault() throws {
    let generation = try generation(
      target(
        "A",
        ["switchboard.json": "{}", "b.proto": "", "sub/a.proto": "", "main.swift": "", ".hidden/x.proto": ""]
      )
    )
    #expect(generation.target.protos.map(\.name) == ["b.proto", "sub/a.proto"])
    #expect(
      generation.outputs.map(\.path)
        == ["out/b.pb.swift", "out/b.grpc.swift", "out/sub_a.pb.swift", "out/sub_a.grpc.swift"].map(path)
    )
    #expect(generation.inputs.map(\.path) == ["A/switchboard.json", "A/b.proto", "A/sub/a.proto"].map(path))
    #expect(
      generation.arguments == [
        "--configuration", path("A/switchboard.json"), "--output", path("out"),
        "--option", "FileNaming=PathToUnderscores", "--expect", "b.pb.swift", "--expect", "b.grpc.swift",
        "--expect", "sub_a.pb.swift", "--expect", "sub_a.grpc.swift",
        "--", path("A/b.proto"), path("A/sub/a.proto"),
      ]
    )
  }

  @Test func usesTheFilesInTheConfiguration() throws {
    let json = """
      {
        "protos": ["../shared/x/a.proto"],
        "includes": ["../shared", "more"],
        "options": {"Visibility": "Public", "Server": false, "ExtraModuleImports": ["B", "C"], "FileNaming": "DropPath"}
      }
      """
    _ = try target("shared", ["switchboard.json": "{}", "x/a.proto": "", "y/imported.proto": ""])
    let generation = try generation(
      target("A", ["switchboard.json": json, "more/b.proto": "", "c.proto": ""])
    )
    #expect(generation.target.protos.map(\.name) == ["x/a.proto"])
    #expect(generation.outputs.map(\.lastPathComponent) == ["a.pb.swift", "a.grpc.swift"])
    #expect(
      generation.inputs.map(\.path)
        == ["A/switchboard.json", "A/more/b.proto", "shared/x/a.proto", "shared/y/imported.proto"].map(path)
    )
    #expect(
      generation.arguments == [
        "--configuration", path("A/switchboard.json"), "--output", path("out"),
        "--option", "FileNaming=DropPath", "--expect", "a.pb.swift", "--expect", "a.grpc.swift",
      ]
    )
    #expect(
      generation.target.configuration.options == [
        "Visibility": ["Public"], "Server": ["false"], "ExtraModuleImports": ["B", "C"],
        "FileNaming": ["DropPath"],
      ]
    )
  }

  @Test func keepsDirectoriesIfFileNamingRequiresIt() throws {
    let json = #"{"options": {"FileNaming": "FullPath"}}"#
    let generation = try generation(target("A", ["switchboard.json": json, "sub/a.proto": ""]))
    #expect(generation.outputs.map(\.path) == ["out/sub/a.pb.swift", "out/sub/a.grpc.swift"].map(path))
  }

  @Test func filesNamedByOptionsAreInputs() throws {
    let json = #"{"options": {"PayloadMappings": "payloads.txt"}}"#
    let generation = try generation(
      target("A", ["switchboard.json": json, "payloads.txt": "", "a.proto": ""])
    )
    #expect(
      generation.inputs.map(\.path) == ["A/switchboard.json", "A/payloads.txt", "A/a.proto"].map(path)
    )
  }

  @Test func mapsTheModulesOfDependencies() throws {
    let one = try target("One", ["switchboard.json": "{}", "one.proto": "", "more/one.proto": ""])
    let two = try target("Two", ["switchboard.json": #"{"includes": ["p"]}"#, "p/two.proto": ""])
    let generation = try generation(
      target("A", ["switchboard.json": "{}", "a.proto": ""]),
      dependencies: [one, two]
    )
    try FileManager.default.createDirectory(at: generation.scratch, withIntermediateDirectories: true)
    try generation.prepare()
    let mapping = generation.scratch.appendingPathComponent("module-mappings.textproto")
    #expect(
      try String(contentsOf: mapping, encoding: .utf8) == """
        mapping {
          module_name: "One"
          proto_file_path: "more/one.proto"
          proto_file_path: "one.proto"
        }
        mapping {
          module_name: "Two"
          proto_file_path: "two.proto"
        }

        """
    )
    #expect(generation.arguments.contains("ProtoPathModuleMappings=" + mapping.path))
    #expect(generation.arguments.filter { ["One", "Two/p"].map(path).contains($0) }.count == 2)
    #expect(generation.inputs.contains(mapping))
    #expect(generation.inputs.map(\.path).contains(path("Two/p/two.proto")))
  }

  @Test func namesInMappingsAreQuoted() throws {
    let one = try target("One", ["switchboard.json": "{}", #"a"b\c.proto"#: ""])
    let generation = try generation(
      target("A", ["switchboard.json": "{}", "a.proto": ""]),
      dependencies: [one]
    )
    try FileManager.default.createDirectory(at: generation.scratch, withIntermediateDirectories: true)
    try generation.prepare()
    let mapping = generation.scratch.appendingPathComponent("module-mappings.textproto")
    let text = try String(contentsOf: mapping, encoding: .utf8)
    #expect(text.contains(#"  proto_file_path: "a\"b\\c.proto""# + "\n"), "\(text)")
  }

  @Test func aSourceWithTheNameOfAGeneratedFileIsFound() throws {
    let generation = try generation(target("A", ["switchboard.json": "{}", "sub/a.proto": ""]))
    let old = root.appendingPathComponent("A/Generated/sub_a.pb.swift")
    let own = root.appendingPathComponent("A/a.pb.swift")
    #expect(generation.clash(with: [own, old]) == old)
    #expect(generation.clash(with: [own]) == nil)
  }

  @Test func generatesNothingWithoutAConfiguration() throws {
    #expect(try target("A", ["a.proto": ""]) == nil)
  }

  @Test(arguments: [
    ("[1 2]", ":1:4: not valid JSON: expected \",\" or \"]\""),
    ("{\n  \"protos\": [\"a.proto\",\n  \"includes\": []\n}", ":3:13: not valid JSON: expected"),
    ("[]", "the file has the wrong type: "),
    (#"{"protos": "a.proto"}"#, "'protos' has the wrong type: "),
    (#"{"includes": [1]}"#, "'includes.Index 0' has the wrong type: "),
    (
      #"{"options": {"Server": {}}}"#,
      "'options.Server': an option is true, false, a string or a list of strings"
    ),
    (#"{"proto": []}"#, "unknown key \"proto\": the keys are protos, includes and options"),
    (#"{"protos": ["gone.proto"]}"#, "the file "),
    (#"{"protos": []}"#, "'protos' is empty"),
    (#"{"protos": ["a.proto", "a.proto"]}"#, "'protos' names a.proto twice"),
    (#"{"protos": ["sub/b.proto", "./sub/../sub/b.proto"]}"#, "'protos' names ./sub/../sub/b.proto twice"),
    (
      #"{"protos": ["sub"]}"#,
      "/A/sub is a directory; 'protos' names files, and without it every .proto below"
    ),
    (#"{"protos": ["a.proto"], "protos": []}"#, ":1:25: the key \"protos\" is given twice"),
    (
      #"{"options": {"Server": true, "Client": true, "Server": false}}"#,
      ":1:46: the key \"Server\" is given twice"
    ),
    (#"{"includes": ["gone"]}"#, "the include directory "),
    (#"{"includes": ["sub"]}"#, "/A/a.proto is not in any of the 'includes'"),
  ])
  func reportsConfigurationErrors(json: String, problem: String) throws {
    let error = try #require(throws: ConfigurationError.self) {
      try target("A", ["switchboard.json": json, "a.proto": "", "sub/b.proto": ""])
    }
    #expect(error.description.hasPrefix(path("A/switchboard.json") + ":"))
    #expect(error.description.contains(problem), "\(error)")
  }
}

extension ProtoTarget: Equatable {
  static func == (one: ProtoTarget, other: ProtoTarget) -> Bool {
    one.configurationFile == other.configurationFile
  }
}
