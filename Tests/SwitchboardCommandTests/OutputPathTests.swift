import Foundation
import SwitchboardToolSupport
import TestSupport
import Testing

@testable import SwitchboardCommand

/// Files that a user names for output. What is not a regular file is written to and not replaced: it may be a device.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct OutputPathTests {
  private func inFolder(_ body: (String) throws -> Void) throws {
    let folder = NSTemporaryDirectory() + "output-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder)
  }

  private func kind(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  @Test func aPipeIsWrittenTo() throws {
    try inFolder { folder in
      let path = folder + "/pipe"
      try #require(mkfifo(path, 0o600) == 0)
      let reader = open(path, O_RDONLY | O_NONBLOCK)
      defer { close(reader) }
      try OutputPath(path).write(Array("report".utf8))
      var bytes = [UInt8](repeating: 0, count: 16)
      #expect(read(reader, &bytes, bytes.count) == 6 && bytes.starts(with: "report".utf8))
      #expect(kind(path) == S_IFIFO)
    }
  }

  /// To wait for a reader would be to hang without a word.
  @Test func aPipeThatNobodyReadsIsNotWaitedFor() throws {
    try inFolder { folder in
      let path = folder + "/pipe"
      try #require(mkfifo(path, 0o600) == 0)
      let error = #expect(throws: SystemError.self) { try OutputPath(path).write(Array("report".utf8)) }
      #expect(error?.description == "\(path): No process reads this pipe")
      #expect(kind(path) == S_IFIFO)
    }
  }

  /// A reader that is slow gets all of what does not fit into a pipe at once.
  @Test func aPipeIsWrittenToAtThePaceOfItsReader() async throws {
    let folder = NSTemporaryDirectory() + "output-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    try #require(reader >= 0 && fcntl(reader, F_SETFL, 0) == 0)
    let content = [UInt8](repeating: 7, count: 1 << 20)
    let writing = Task.detached { try OutputPath(path).write(content) }
    var (count, buffer) = (0, [UInt8](repeating: 0, count: 1 << 16))
    while count < content.count, !Task.isCancelled {
      let some = read(reader, &buffer, buffer.count)
      if some == 0 { await Task.yield() }
      try #require(some >= 0)
      count += some
    }
    try await writing.value
    #expect(count == content.count)
    close(reader)
  }

  @Test func openAPIWritesToAFile() throws {
    try inFolder { folder in
      let words = ["openapi", "--proto", Run.protos + "/shop.proto"]
      let shown = try Command.product("switchboard", words)
      let written = try Command.product("switchboard", words + ["-o", "shop.json"], in: folder)
      #expect(written.exitCode == 0 && written.output.isEmpty, "\(written.errors)")
      #expect(try Data(contentsOf: URL(filePath: folder + "/shop.json")) == Data(shown.output))
      let nowhere = try Command.product("switchboard", words + ["-o", "none/shop.json"], in: folder)
      #expect(nowhere.exitCode == 74 && nowhere.errors.contains("none: No such file"), "\(nowhere.errors)")
    }
  }

  @Test func aLinkStaysOne() throws {
    try inFolder { folder in
      for name in ["present", "missing"] {
        let target = folder + "/" + name
        if name == "present" { try Data("a longer one".utf8).write(to: URL(filePath: target)) }
        let path = folder + "/link to " + name
        try #require(symlink(target, path) == 0)
        try OutputPath(path).write(Array("report".utf8))
        #expect(kind(path) == S_IFLNK)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "report")
      }
    }
  }

  @Test func aFileIsReplacedAsAWhole() throws {
    try inFolder { folder in
      let (path, other) = (folder + "/report", folder + "/other name")
      try OutputPath(path).write([1])
      try #require(link(path, other) == 0)
      try OutputPath(path).write([2])
      #expect(try Data(contentsOf: URL(filePath: other)) == Data([1]))
      #expect(try Data(contentsOf: URL(filePath: path)) == Data([2]))
    }
  }
}
