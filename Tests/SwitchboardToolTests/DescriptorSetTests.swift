import Foundation
import TestSupport
import Testing

/// Files compiled by another compiler and passed to the command.
@Suite(.mayBlock) struct DescriptorSetTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch([
      "protos/a.proto": """
      syntax = "proto3";
      package a;
      import "sub/b.proto";
      import "google/protobuf/timestamp.proto";
      // Imports the other.
      message A { b.B b = 1; google.protobuf.Timestamp at = 2; }
      """,
      "protos/sub/b.proto": "syntax = \"proto3\";\npackage b;\nmessage B { string name = 1; }",
      "protos/late.proto": """
      edition = "2024";
      package late;
      import "sub/b.proto";
      message Late { b.B b = 1; string note = 2 [features.field_presence = IMPLICIT]; }
      """,
    ])
  }

  private func generate(_ arguments: String...) throws -> Command {
    try Command.product("switchboard", ["generate"] + arguments, in: scratch.path)
  }

  private func compile(_ arguments: String...) throws {
    let options = ["-I", "protos", "--descriptor_set_out", "set.bin"]
    let protoc = try Command.run("protoc", options + arguments, in: scratch.path)
    try #require(protoc.exitCode == 0, "\(protoc.errors)")
  }

  /// The compiler from PyPI, which supports editions.
  private func compileWithNewest(_ arguments: String...) throws {
    let options = ["-m", "grpc_tools.protoc", "-I", "protos", "--descriptor_set_out", "set.bin"]
    let protoc = try Command.run(TestFolders.python, options + arguments, in: scratch.path)
    try #require(protoc.exitCode == 0, "\(protoc.errors)")
  }

  @Test func generatesTheSameAsFromSources() throws {
    try compile("--include_imports", "--include_source_info", "a.proto")
    #expect(try generate("--descriptor-set", "set.bin", "-o", "from-set", "a.proto").exitCode == 0)
    #expect(try generate("-I", "protos", "-o", "from-source", "a.proto").exitCode == 0)
    #expect(try scratch.files(below: "from-set") == scratch.files(below: "from-source"))
    #expect(try scratch.files(below: "from-set").keys.sorted() == ["a.pb.swift"])
  }

  @Test func generatesForAllButTheWellKnownTypes() throws {
    try compile("--include_imports", "a.proto")
    #expect(try generate("--descriptor-set=set.bin", "-o", "out").exitCode == 0)
    let files = try scratch.files(below: "out").keys.filter { $0.hasSuffix(".swift") }
    #expect(files.sorted() == ["a.pb.swift", "sub/b.pb.swift"])
    #expect(
      try generate("--descriptor-set=set.bin", "-o", "own", "google/protobuf/timestamp.proto").exitCode == 0
    )
    #expect(try scratch.files(below: "own").keys.contains("google/protobuf/timestamp.pb.swift"))
  }

  @Test func acceptsEditionsThatOurCompilerDoesNotSupport() throws {
    try compileWithNewest("--include_imports", "late.proto")
    let command = try generate("--descriptor-set", "set.bin", "-o", "out")
    #expect(command.exitCode == 0, "\(command.errors)")
    let late = try #require(scratch.files(below: "out")["late.pb.swift"])
    #expect(late.contains("struct Late_Late"))
    #expect(late.contains("var note: String {") && !late.contains("var hasNote"))
  }

  @Test func reportsWhatIsMissing() throws {
    try compile("a.proto")
    let imports = try generate("--descriptor-set", "set.bin", "-o", "out")
    #expect(imports.exitCode == 1)
    #expect(
      imports.errors == """
        a.proto: The import sub/b.proto is not in set.bin.
        a.proto: The import google/protobuf/timestamp.proto is not in set.bin.
        set.bin: note: protoc includes imports with --include_imports.

        """
    )
    try compile("--include_imports", "a.proto")
    let file = try generate("--descriptor-set", "set.bin", "-o", "out", "gone.proto")
    #expect(file.exitCode == 1)
    #expect(file.errors == "gone.proto: File not found in set.bin.\n")
    try compile("--include_imports", "google/protobuf/any.proto")
    let own = try generate("--descriptor-set", "set.bin", "-o", "out")
    #expect(own.exitCode == 1)
    #expect(own.errors == "switchboard: set.bin: it contains only the well-known types\n")
    #expect(!FileManager.default.fileExists(atPath: scratch.path + "/out"))
  }

  @Test(arguments: ["junk", "syntax = \"proto3\";", "", "{\"file\": []}", "\u{8}\u{1}"])
  func rejectsInvalidSets(_ content: String) throws {
    try scratch.write(content, to: "set.bin")
    let command = try generate("--descriptor-set", "set.bin", "-o", "out")
    #expect(command.exitCode == 1)
    #expect(command.errors.hasPrefix("switchboard: set.bin: not a serialized FileDescriptorSet: "))
  }

  @Test func reportsAMissingFile() throws {
    let command = try generate("--descriptor-set", "gone.bin", "-o", "out")
    #expect(command.exitCode == 1)
    #expect(command.errors == "switchboard: gone.bin: No such file or directory\n")
  }
}
