import SwitchboardProtoCompiler
import Testing

@Suite struct ErrorTests {
  @Test func countLinesAndColumnsFromOne() throws {
    let folder = try ProtoFolder(["a.proto": "syntax = \"proto3\";\nmessage A {\n  int32 x 1;\n}\n"])
    #expect(folder.errors("a.proto") == ["here/a.proto:3:11: error: Missing field number."])
  }

  @Test func pointAtWhatDoesNotLink() throws {
    let folder = try ProtoFolder(["a.proto": "syntax = \"proto3\";\nmessage A { Missing m = 1; }"])
    #expect(folder.errors("a.proto") == ["here/a.proto:2:13: error: \"Missing\" is not defined."])
  }

  @Test func nameTheImportThatFails() throws {
    let folder = try ProtoFolder([
      "a.proto": "syntax = \"proto3\";\nimport \"b.proto\";\nmessage A { B b = 1; }",
      "b.proto": "syntax = \"proto3\";\nimport \"gone.proto\";\nmessage B {}",
    ])
    #expect(
      folder.errors("a.proto") == [
        "gone.proto: error: File not found in any include directory (-I): here, /usr/include.",
        "here/b.proto:2:1: error: Import \"gone.proto\" was not found or had errors.",
        "here/a.proto:2:1: error: Import \"b.proto\" was not found or had errors.",
      ]
    )
  }

  @Test func startWithThePathThatWasGiven() throws {
    let folder = try ProtoFolder(["sub/a.proto": "junk", "sub/b.proto": "import \"sub/a.proto\""])
    let given = folder.path + "/./sub/../sub/a.proto"
    #expect(folder.errors(given).first?.hasPrefix("here/./sub/../sub/a.proto:1:1: error: ") == true)
    // A file that was not given is named by the path where it was found.
    let compiler = ProtoCompiler(includeDirectories: [folder.path + "/./", "/usr/include"])
    for file in ["sub/a.proto", folder.path + "/sub/b.proto"] {
      let errors = try #require(throws: ProtoErrors.self) { try compiler.compile([file]) }.errors
      let path = folder.path + "/" + (file.hasSuffix("a.proto") ? "sub/a.proto" : "sub/b.proto")
      #expect(errors.contains { $0.hasPrefix(path + ":1:") }, "\(errors)")
    }
  }

  @Test func nameTheFilesOfACycle() throws {
    let folder = try ProtoFolder([
      "a.proto": "syntax = \"proto3\";\nimport \"b.proto\";",
      "b.proto": "syntax = \"proto3\";\n\nimport \"c.proto\";",
      "c.proto": "syntax = \"proto3\"; import \"b.proto\";",
      "self.proto": "syntax = \"proto3\"; import \"self.proto\";",
    ])
    #expect(
      folder.errors("a.proto", "self.proto") == [
        "here/c.proto:1:20: error: File recursively imports itself: b.proto -> c.proto -> b.proto",
        "here/b.proto:3:1: error: Import \"c.proto\" was not found or had errors.",
        "here/a.proto:2:1: error: Import \"b.proto\" was not found or had errors.",
        "here/self.proto:1:20: error: File recursively imports itself: self.proto -> self.proto",
      ]
    )
  }

  @Test func comeForEveryFile() throws {
    let folder = try ProtoFolder(["a.proto": "junk", "b.proto": "syntax = \"proto3\"; message B {"])
    #expect(folder.errors("a.proto", "b.proto").map { $0.prefix(13) } == ["here/a.proto:", "here/b.proto:"])
  }

  @Test func sayWhyEditionsFail() throws {
    for (edition, protoc) in [("2023", "protoc 27 or later"), ("2024", "protoc 32 or later")] {
      let folder = try ProtoFolder(["a.proto": "// Newer.\nedition = \"\(edition)\";\nmessage A {}"])
      let errors = folder.errors("a.proto")
      #expect(errors.count == 1)
      let error = try #require(errors.first)
      #expect(error.hasPrefix("here/a.proto:2:1: error: This tool was built with libprotoc "))
      #expect(error.contains(protoc))
      #expect(error.contains("--descriptor-set FILE"))
    }
  }

  @Test(arguments: ["\"2099\"", "'2099'"])
  func sayWhichEditionsThereAre(_ edition: String) throws {
    let folder = try ProtoFolder(["a.proto": "edition = \(edition);"])
    #expect(
      folder.errors("a.proto") == [
        "here/a.proto:1:1: error: edition 2099 is not supported: use edition 2023 or 2024"
      ]
    )
  }

  @Test(arguments: ["edition", "edition =", "edition = \"", "edition = \"\";", "edition = 2023;"])
  func comeForAnInvalidEditionToo(_ source: String) throws {
    #expect(try ProtoFolder(["a.proto": source]).errors("a.proto").count == 1)
  }

  @Test func sayWhereAFileWasLookedFor() throws {
    let folder = try ProtoFolder()
    #expect(
      folder.errors("gone.proto", folder.path + "/gone.proto") == [
        "gone.proto: error: File not found in any include directory (-I): here, /usr/include.",
        "here/gone.proto: error: File not found.",
      ]
    )
    let dotted = ProtoCompiler(includeDirectories: [".", folder.path + "/."])
    let error = try #require(throws: ProtoErrors.self) { try dotted.compile(["gone.proto"]) }.errors.first
    #expect(error?.hasSuffix("(-I): ., \(folder.path).") == true)
  }

  private let noSyntax = """
    warning: No syntax specified; proto2 is assumed, where each field has a label. Begin the file with 'syntax = \
    "proto3";', or with 'syntax = "proto2";' if that is meant.
    """

  /// The parser alone asks for labels, which proto3 does not have.
  @Test func ofAFileWithoutSyntaxSaySo() throws {
    let folder = try ProtoFolder([
      "a.proto": "package shop;\nmessage A { string a = 1; }",
      "b.proto": "syntax = \"proto4\";", "c.proto": "sintax = \"proto3\";",
      "d.proto": "syntax = \"proto2\";\nmessage A { string a = 1; }",
    ])
    func error(_ name: String) throws -> ProtoErrors {
      try #require(throws: ProtoErrors.self) { try folder.compile(name) }
    }
    let none = try error("a.proto")
    #expect(
      none.errors == [
        "\(folder.path)/a.proto:2:13: error: Expected \"required\", \"optional\", or \"repeated\"."
      ]
    )
    #expect(none.warnings == ["\(folder.path)/a.proto: \(noSyntax)"])
    #expect(try error("c.proto").warnings == ["\(folder.path)/c.proto: \(noSyntax)"])
    #expect(try error("b.proto").warnings == [] && error("d.proto").warnings == [])
  }

  /// As other languages name it, or without its import.
  @Test func ofATypeThatIsNotDefinedSayWhatWasMeant() throws {
    let types = [
      ("int", " Write int32, int64, uint32 or uint64."), ("String", " Write string."),
      ("boolean", " Write bool."),
      ("google.protobuf.Timestamp", " Write import \"google/protobuf/timestamp.proto\";"),
      ("Duration", " Write google.protobuf.Duration, and import \"google/protobuf/duration.proto\";"),
      ("date", " Write google.protobuf.Timestamp, and import \"google/protobuf/timestamp.proto\";"),
      ("Order", ""), ("google.protobuf.Order", ""),
    ]
    let fields = types.enumerated().map { "  \($1.0) f\($0) = \($0 + 1);\n" }.joined()
    let folder = try ProtoFolder(["a.proto": "syntax = \"proto3\";\nmessage A {\n\(fields)}\n"])
    let found = try #require(throws: ProtoErrors.self) { try folder.compile("a.proto") }
    let expected = types.enumerated().map { index, type in
      "\(folder.path)/a.proto:\(index + 3):3: error: \"\(type.0)\" is not defined.\(type.1)"
    }
    #expect(found.errors == expected)
  }

  @Test func areSeparateFromWarnings() throws {
    let folder = try ProtoFolder([
      "a.proto": "syntax = \"proto3\";\nimport \"b.proto\";",
      "b.proto": "message B {}",
    ])
    #expect(
      try folder.compile("a.proto").warnings == [
        "\(folder.path)/b.proto: \(noSyntax)",
        "\(folder.path)/a.proto:2:1: warning: Import b.proto is unused.",
      ]
    )
  }
}
