import Foundation
import SwitchboardProtoCompiler
import Testing

/// Compiling ends with an error, whatever the files contain.
@Suite struct HostileSourceTests {
  private let header = "syntax = \"proto3\";\n"

  private func errors(of source: String) throws -> [String] {
    try ProtoFolder(["a.proto": source]).errors("a.proto")
  }

  @Test func deepMessagesAreRejected() throws {
    let source = header + String(repeating: "message A {", count: 200_000)
    #expect(try errors(of: source).first?.contains("Nested more than 100 levels deep.") == true)
  }

  @Test func messagesPastTheLimitOfTheReferenceAreRejected() throws {
    let source = header + String(repeating: "message A {", count: 99) + String(repeating: "}", count: 99)
    #expect(try !errors(of: source).isEmpty)
  }

  @Test func deepMessagesBetweenStrayBracesAreRejected() throws {
    let source =
      header + String(repeating: "} > ", count: 50) + String(repeating: "message A { >", count: 200_000)
    #expect(try !errors(of: source).isEmpty)
  }

  @Test(arguments: [("{ a ", " }"), ("< a ", " >"), ("{ a: [", "] }")])
  func deepOptionsAreRejected(open: String, close: String) throws {
    let option = String(repeating: "a " + open, count: 100_000) + String(repeating: close, count: 100_000)
    let source = """
      \(header)import "google/protobuf/descriptor.proto";
      message O { O a = 1; }
      extend google.protobuf.FileOptions { O o = 50000; }
      option (o) = { \(option) };
      """
    #expect(try !errors(of: source).isEmpty)
  }

  @Test func longOptionNamesAreRejected() throws {
    let source = header + "option (o)" + String(repeating: ".a", count: 500_000) + " = 1;"
    #expect(try errors(of: source).first?.contains("A name of more than 1000 parts.") == true)
  }

  @Test func longImportChainsAreRejected() throws {
    let folder = try ProtoFolder()
    for index in 0..<1_500 {
      try folder.write(header + "import public \"\(index + 1).proto\";", to: "\(index).proto")
    }
    try folder.write(header, to: "1500.proto")
    #expect(folder.errors("0.proto").first?.hasSuffix("A chain of more than 1000 imports.") == true)
    #expect(folder.errors("600.proto") == [])
  }

  @Test func binaryJunkIsRejected() throws {
    var random = SystemRandomNumberGenerator()
    for size in [1, 2, 100, 100_000] {
      let bytes = (0..<size).map { _ in UInt8.random(in: 128...255, using: &random) }
      let folder = try ProtoFolder()
      try folder.write(Data(bytes), to: "a.proto")
      #expect(!folder.errors("a.proto").isEmpty)
    }
    #expect(try !errors(of: "\0\0\0").isEmpty)
    #expect(try !errors(of: "syntax = \"proto3\0").isEmpty)
  }

  @Test func hugeFilesAreRejected() throws {
    let folder = try ProtoFolder()
    try folder.write(Data(count: 17 << 20), to: "a.proto")
    #expect(folder.errors("a.proto") == ["here/a.proto: error: Input file is larger than 16 MiB."])
  }

  @Test func endlessErrorsAreCutOff() throws {
    let errors = try errors(of: String(repeating: "a;", count: 100_000))
    #expect(errors.count == 1_001)
    #expect(errors.last == "here/a.proto: error: There are more than 1000 errors; the rest are omitted.")
  }

  @Test func pathsThatAreNotRegularFilesAreRejected() throws {
    let folder = try ProtoFolder(["directory.proto/x": ""])
    try #require(mkfifo(folder.path + "/fifo.proto", 0o600) == 0)
    try #require(symlink("/dev/zero", folder.path + "/device.proto") == 0)
    try #require(symlink("loop.proto", folder.path + "/loop.proto") == 0)
    #expect(folder.errors("directory.proto") == ["here/directory.proto: error: Input file is a directory."])
    #expect(folder.errors("fifo.proto") == ["here/fifo.proto: error: Input file is not a regular file."])
    #expect(folder.errors("device.proto") == ["here/device.proto: error: Input file is not a regular file."])
    #expect(folder.errors("loop.proto").count == 1)
  }

  @Test(.enabled(if: geteuid() != 0, "root reads everything"))
  func unreadableFilesAreReported() throws {
    let folder = try ProtoFolder(["a.proto": header])
    try #require(chmod(folder.path + "/a.proto", 0) == 0)
    #expect(folder.errors("a.proto") == ["here/a.proto: error: Could not read the file: Permission denied."])
  }

  @Test func everyPrefixOfAFileIsReadOrRejected() throws {
    let source = try #require(RequestTests.everything["a/one.proto"])
    let folder = try ProtoFolder(RequestTests.everything)
    for length in stride(from: 0, to: source.utf8.count, by: 7) {
      try folder.write(String(source.prefix(length)), to: "a/one.proto")
      _ = folder.errors("a/one.proto")
    }
  }

  @Test func manyThreadsCompileAtOnce() async throws {
    let folder = try ProtoFolder(RequestTests.everything)
    let expected = try folder.compile("a/one.proto")
    let path = folder.path
    await withTaskGroup(of: CompiledProtos?.self) { group in
      for _ in 0..<16 {
        group.addTask {
          try? ProtoCompiler(includeDirectories: [path, "/usr/include"]).compile(["a/one.proto"])
        }
      }
      for await compiled in group { #expect(compiled == expected) }
    }
    withExtendedLifetime(folder) {}
  }
}
