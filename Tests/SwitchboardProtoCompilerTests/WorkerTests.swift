import SwitchboardDescriptors
import SwitchboardProtoCompiler
import SwitchboardProtobuf
import Testing

/// What compiling gives does not depend on the number of threads.
@Suite struct WorkerTests {
  private typealias Request = Google_Protobuf_Compiler_CodeGeneratorRequest

  private func compile(
    _ folder: ProtoFolder,
    _ files: [String],
    workers: Int?,
    comments: Bool = false
  ) -> Result<CompiledProtos, ProtoErrors> {
    var compiler = ProtoCompiler(includeDirectories: [folder.path, "/usr/include"])
    compiler.workers = workers
    compiler.keepsOnlyComments = comments
    return Result { () throws(ProtoErrors) in try compiler.compile(files) }
  }

  /// Files that import a few of those before them, and one that all import.
  private func forest(_ count: Int, _ change: (inout [String: String]) -> Void = { _ in }) throws
    -> ProtoFolder
  {
    var files = ["base.proto": "syntax = \"proto3\";\npackage base;\nmessage Base {}\n"]
    for index in 0..<count {
      var source = "syntax = \"proto3\";\npackage f\(index);\nimport \"base.proto\";\n"
      let imports = [index - 1, index / 2, index / 3].filter { $0 >= 0 && $0 < index }
      for other in Set(imports).sorted() { source += "import \"\(other).proto\";\n" }
      source += "// Number \(index).\nmessage M {\n  base.Base base = 1;\n"
      if let other = imports.first { source += "  f\(other).M other = 2;  // The other one.\n" }
      files["\(index).proto"] = source + "}\n"
    }
    change(&files)
    return try ProtoFolder(files)
  }

  private func names(_ count: Int) -> [String] { (0..<count).reversed().map { "\($0).proto" } }

  @Test func requestsAreTheSame() throws {
    let folder = try forest(100)
    let one = try compile(folder, names(100), workers: 1).get()
    // Most files import some that they do not use.
    #expect(one.warnings.count > 50)
    for workers in [0, 2, 3, 8, 1_000, nil] as [Int?] {
      #expect(try compile(folder, names(100), workers: workers).get() == one)
    }
  }

  @Test func errorsAreTheSame() throws {
    let folder = try forest(100) { files in
      files["17.proto"] = "syntax = \"proto3\";\nmessage {}\n"
      files["40.proto"] = nil
      files["61.proto"]? += "message N { Nowhere n = 1; }\nmessage M {}\n"
      files["62.proto"]? += "import \"62.proto\";\n"
    }
    var errors: [ProtoErrors] = []
    for workers in [1, 2, 3, 8, nil] as [Int?] {
      let error = #expect(throws: ProtoErrors.self) {
        try compile(folder, names(100), workers: workers).get()
      }
      errors.append(try #require(error))
    }
    #expect(errors.allSatisfy { $0 == errors[0] })
    #expect(errors[0].errors.count > 3)
  }

  @Test func warningsOfAFileAreInTheOrderOfItsSource() throws {
    let imports = (0..<20).map { "import \"\($0 * 7 % 20).proto\";" }
    var files = ["all.proto": (["syntax = \"proto3\";"] + imports).joined(separator: "\n")]
    for index in 0..<20 { files["\(index).proto"] = "syntax = \"proto3\";" }
    let warnings = try compile(ProtoFolder(files), ["all.proto"], workers: nil).get().warnings
    #expect(warnings.count == 20)
    for (index, warning) in warnings.enumerated() {
      #expect(
        warning.contains("/all.proto:\(index + 2):1: warning: Import \(index * 7 % 20).proto is unused.")
      )
    }
  }

  @Test func linkErrorsPointAtTheirCauses() throws {
    let folder = try ProtoFolder([
      "types.proto": """
      syntax = "proto3";
      message A {
        oneof kind { Nothing other = 4; }
      }
      service S {
        rpc Get(A) returns (B);
      }
      extend A { int32 x = 9; }
      """,
      "fields.proto": """
      syntax = "proto3";
      message A {
        int32 one = 1;
        int32 two = 1;
        int32 one = 3;
      }
      """,
      "options.proto": """
      syntax = "proto3";
      import "google/protobuf/descriptor.proto";
      extend google.protobuf.FieldOptions { int32 size = 50000; }
      message A {
        int32 one = 1 [(size) = "x"];
        int32 two = 2 [(nothing) = 5];
      }
      """,
    ])
    #expect(
      folder.errors("types.proto") == [
        "here/types.proto:3:16: error: \"Nothing\" is not defined.",
        "here/types.proto:8:22: error: \"A\" does not declare 9 as an extension number.",
        "here/types.proto:6:23: error: \"B\" is not defined.",
      ]
    )
    #expect(
      folder.errors("fields.proto").map { $0.prefix(25) } == [
        "here/fields.proto:5:9: er", "here/fields.proto:4:15: e",
      ]
    )
    #expect(
      folder.errors("options.proto").map { $0.prefix(26) } == [
        "here/options.proto:5:27: e", "here/options.proto:6:18: e",
      ]
    )
  }

  @Test(arguments: [1, 4])
  func commentsAreKeptWithoutOtherPositions(workers: Int) throws {
    let folder = try ProtoFolder(RequestTests.everything)
    let files = ["a/one.proto", "b/two.proto"]
    var all = try Request(serializedBytes: compile(folder, files, workers: workers).get().request)
    let some = try compile(folder, files, workers: workers, comments: true).get()
    for index in all.protoFile.indices {
      all.protoFile[index].sourceCodeInfo.location.removeAll {
        !$0.hasLeadingComments && !$0.hasTrailingComments
      }
    }
    #expect(try Request(serializedBytes: some.request) == all)
    #expect(all.protoFile.contains { !$0.sourceCodeInfo.location.isEmpty })
  }
}
