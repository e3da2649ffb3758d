import SwitchboardProtoCompiler
import Testing

@Suite struct ErrorTests {
  @Test func countLinesAndColumnsFromOne() throws {
    let folder = try ProtoFolder(["a.proto": "syntax = \"proto3\";\nmessage A {\n  int32 x 1;\n}\n"])
    #expect(folder.errors("a.proto") == ["a.proto:3:11: Missing field number."])
  }

  @Test func pointAtWhatDoesNotLink() throws {
    let folder = try ProtoFolder(["a.proto": "syntax = \"proto3\";\nmessage A { Missing m = 1; }"])
    #expect(folder.errors("a.proto") == ["a.proto:2:13: \"Missing\" is not defined."])
  }

  @Test func nameTheImportThatFails() throws {
    let folder = try ProtoFolder([
      "a.proto": "syntax = \"proto3\";\nimport \"b.proto\";\nmessage A { B b = 1; }",
      "b.proto": "syntax = \"proto3\";\nimport \"gone.proto\";\nmessage B {}",
    ])
    #expect(
      folder.errors("a.proto") == [
        "gone.proto: File not found in any include directory (-I).",
        "b.proto:2:1: Import \"gone.proto\" was not found or had errors.",
        "a.proto:2:1: Import \"b.proto\" was not found or had errors.",
      ]
    )
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
        "c.proto:1:20: File recursively imports itself: b.proto -> c.proto -> b.proto",
        "b.proto:3:1: Import \"c.proto\" was not found or had errors.",
        "a.proto:2:1: Import \"b.proto\" was not found or had errors.",
        "self.proto:1:20: File recursively imports itself: self.proto -> self.proto",
      ]
    )
  }

  @Test func comeForEveryFile() throws {
    let folder = try ProtoFolder(["a.proto": "junk", "b.proto": "syntax = \"proto3\"; message B {"])
    #expect(folder.errors("a.proto", "b.proto").map { $0.prefix(8) } == ["a.proto:", "b.proto:"])
  }

  @Test func sayWhyEditionsFail() throws {
    let folder = try ProtoFolder(["a.proto": "// Newer.\nedition = \"2023\";\nmessage A {}"])
    let errors = folder.errors("a.proto")
    #expect(errors.count == 1)
    #expect(errors.first?.hasPrefix("a.proto:2:1: This tool was built with libprotoc ") == true)
  }

  @Test func areSeparateFromWarnings() throws {
    let folder = try ProtoFolder([
      "a.proto": "syntax = \"proto3\";\nimport \"b.proto\";",
      "b.proto": "message B {}",
    ])
    #expect(
      try folder.compile("a.proto").warnings == [
        "b.proto: warning: No syntax specified; proto2 is assumed.",
        "a.proto:2:1: warning: Import b.proto is unused.",
      ]
    )
  }
}
