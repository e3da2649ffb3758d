import Foundation
import SwitchboardToolSupport
import Testing

@Suite final class OutputDirectoryTests {
  private let path = NSTemporaryDirectory() + "output-" + UUID().uuidString

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  private var everything: [String] {
    get throws { try FileManager.default.subpathsOfDirectory(atPath: path).sorted() }
  }

  private func date(_ name: String) throws -> Date? {
    try FileManager.default.attributesOfItem(atPath: path + "/" + name)[.modificationDate] as? Date
  }

  @Test func writesAndReplaces() throws {
    let output = try OutputDirectory(path)
    try output.write([1, 2], to: "a/b/c.swift")
    #expect(try readFile(path + "/a/b/c.swift") == [1, 2])
    try output.write([3], to: "a/b/c.swift")
    #expect(try readFile(path + "/a/b/c.swift") == [3])
    try output.write([], to: "empty")
    #expect(try readFile(path + "/empty") == [])
    #expect(try everything == ["a", "a/b", "a/b/c.swift", "empty"])
  }

  @Test func leavesWhatStaysTheSame() throws {
    let output = try OutputDirectory(path)
    try output.write([1], to: "a")
    let past = Date(timeIntervalSince1970: 1_000_000)
    try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: path + "/a")
    try output.write([1], to: "a")
    #expect(try date("a") == past)
    try output.write([2], to: "a")
    #expect(try date("a") != past)
  }

  @Test(arguments: ["../a", "/a", "a/../../b", "a//b", "", ".", "a/"])
  func staysInside(name: String) throws {
    let output = try OutputDirectory(path)
    #expect(throws: SystemError(name, reason: "An output file must be in the output directory")) {
      try output.write([1], to: name)
    }
    #expect(try everything == [])
  }

  @Test func replacesOnlyWhatIsExpected() throws {
    let output = try OutputDirectory(path)
    try output.write([1], to: "a")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path + "/a")
    try output.replace("a", expecting: [1], with: [2])
    #expect(try readFile(path + "/a") == [2])
    #expect(try FileManager.default.attributesOfItem(atPath: path + "/a")[.posixPermissions] as? Int == 0o640)
    #expect(throws: SystemError(path + "/a", reason: "Changed in the meantime")) {
      try output.replace("a", expecting: [1], with: [3])
    }
    try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: "a")
    #expect(throws: SystemError.self) { try output.replace("link", expecting: [2], with: [3]) }
    #expect(try readFile(path + "/a") == [2])
    #expect(try everything == ["a", "link"])
  }

  /// What runs as its owner would run as whoever wrote it last.
  @Test func aFileThatIsReplacedRunsAsNobodyElse() throws {
    let output = try OutputDirectory(path)
    try output.write([1], to: "a")
    try FileManager.default.setAttributes([.posixPermissions: 0o6755], ofItemAtPath: path + "/a")
    try output.replace("a", expecting: [1], with: [2])
    let attributes = try FileManager.default.attributesOfItem(atPath: path + "/a")
    #expect(attributes[.posixPermissions] as? Int == 0o755)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func aFileOfAnotherUserStays() throws {
    let output = try OutputDirectory(path)
    try output.write([1], to: "a")
    #expect(chown(path + "/a", 65534, 65534) == 0)
    #expect(throws: SystemError.self) { try output.replace("a", expecting: [1], with: [2]) }
    #expect(try readFile(path + "/a") == [1])
  }

  @Test func listsFilesAndDirectoriesWithoutLinks() throws {
    try OutputDirectory(path).write([], to: "b/c")
    try OutputDirectory(path).write([], to: "a")
    for (link, target) in [("d", "a"), ("e", "b"), ("f", "none")] {
      try FileManager.default.createSymbolicLink(atPath: path + "/" + link, withDestinationPath: target)
    }
    let listing = try DirectoryListing(of: path)
    #expect(listing.files == ["a"] && listing.directories == ["b"])
    #expect(throws: SystemError.self) { try DirectoryListing(of: path + "/none") }
  }

  @Test func requiresADirectory() throws {
    try OutputDirectory(path).write([], to: "file")
    #expect(throws: SystemError(path + "/gone", reason: "No such file or directory")) {
      try OutputDirectory(path + "/gone")
    }
    #expect(throws: SystemError(path + "/file", reason: "Not a directory")) {
      try OutputDirectory(path + "/file")
    }
  }

  @Test func leavesNoFilesWhenItFails() throws {
    let output = try OutputDirectory(path)
    try output.write([1], to: "directory/file")
    #expect(throws: SystemError.self) { try output.write([2], to: "directory") }
    #expect(throws: SystemError.self) { try output.write([2], to: "directory/file/below") }
    #expect(try everything == ["directory", "directory/file"])
  }

  @Test func readsFilesOfAnySize() throws {
    let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
    try OutputDirectory(path).write(content, to: "large")
    #expect(try readFile(path + "/large") == content)
    #expect(throws: SystemError(path + "/gone", reason: "No such file or directory")) {
      try readFile(path + "/gone")
    }
  }
}
