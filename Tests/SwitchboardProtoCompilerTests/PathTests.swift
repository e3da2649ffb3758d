import Foundation
import SwitchboardProtoCompiler
import Testing

/// How a file given by its path gets its name in imports.
@Suite struct PathTests {
  private let empty = "syntax = \"proto3\";"

  private func errors(roots: [String], _ files: String...) -> [String] {
    do {
      _ = try ProtoCompiler(includeDirectories: roots).compile(files)
      return []
    } catch {
      return error.errors
    }
  }

  @Test func takesPathsAndNamesAlike() throws {
    let folder = try ProtoFolder(["sub/a.proto": empty])
    let named = try folder.compile("sub/a.proto")
    #expect(try folder.compile(folder.path + "/sub/a.proto") == named)
    #expect(try folder.compile(folder.path + "/./sub//../sub/a.proto") == named)
  }

  @Test func matchesRelativeRootsWithAbsolutePaths() throws {
    let folder = try ProtoFolder(["a.proto": empty])
    let upwards = String(
      repeating: "../",
      count: FileManager.default.currentDirectoryPath.split(separator: "/").count
    )
    #expect(errors(roots: [upwards + folder.path.dropFirst()], folder.path + "/a.proto") == [])
  }

  @Test func requiresTheFileUnderARoot() throws {
    let folder = try ProtoFolder(["a.proto": empty, "root/b.proto": empty])
    let errors = errors(roots: [folder.path + "/root"], folder.path + "/a.proto")
    #expect(errors.count == 1)
    #expect(
      errors.first?.hasPrefix(folder.path + "/a.proto: error: File is not in any include directory")
        == true
    )
  }

  @Test func refusesADirectory() throws {
    let folder = try ProtoFolder(["a.proto": empty])
    let errors = errors(roots: [folder.path], folder.path)
    #expect(errors == ["\(folder.path): error: It is a directory. Name the .proto files in it."])
  }

  @Test func doesNotTakeASiblingWithTheSamePrefixForARoot() throws {
    let folder = try ProtoFolder(["root/b.proto": empty, "root-2/a.proto": empty])
    #expect(errors(roots: [folder.path + "/root"], folder.path + "/root-2/a.proto").count == 1)
  }

  @Test func namesTheShadowingFile() throws {
    let folder = try ProtoFolder(["one/a.proto": empty, "two/a.proto": empty])
    let errors = errors(roots: [folder.path + "/one", folder.path + "/two"], folder.path + "/two/a.proto")
    #expect(errors.count == 1)
    #expect(errors.first?.contains("is that of \"\(folder.path)/one/a.proto\" too") == true)
  }

  @Test func refusesNamesThatLeaveTheRoots() throws {
    let folder = try ProtoFolder([
      "root/a.proto": "syntax = \"proto3\"; import \"../b.proto\";", "b.proto": empty,
    ])
    let errors = errors(roots: [folder.path + "/root"], "a.proto")
    #expect(
      errors.first
        == "../b.proto: error: Backslashes, consecutive slashes, \".\", or \"..\" are not allowed in an import or a file's name."
    )
  }

  @Test(arguments: ["gone.proto", "", "/", "..", "\\", "gone/", "root/gone.proto"])
  func reportsMissingFiles(path: String) throws {
    #expect(try ProtoFolder(["root/a.proto": empty]).errors(path).count == 1)
  }
}
