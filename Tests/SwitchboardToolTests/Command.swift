import Foundation

/// A command that a test runs, and what came of it.
struct Command {
  var exitCode: Int32
  var output: [UInt8]
  var errors: String

  /// Runs a product of this package.
  static func product(_ name: String, _ arguments: [String], input: [UInt8] = [], in directory: String? = nil)
    throws
    -> Command
  {
    try run(path(ofProduct: name), arguments, input: input, in: directory)
  }

  /// Where the build puts a product: beside the tests.
  static func path(ofProduct name: String) -> String {
    let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    return tests.appendingPathComponent(name).path
  }

  /// Runs a program of the system, found on the path where it is no path itself.
  static func run(_ program: String, _ arguments: [String], input: [UInt8] = [], in directory: String? = nil)
    throws
    -> Command
  {
    // Through files, since a pipe that nobody reads yet blocks the command.
    let scratch = URL(fileURLWithPath: NSTemporaryDirectory() + "command-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    let files = ["in", "out", "err"].map { scratch.appendingPathComponent($0) }
    try Data(input).write(to: files[0])
    for file in files.dropFirst() { try Data().write(to: file) }

    let process = Process()
    process.executableURL = URL(fileURLWithPath: program.contains("/") ? program : "/usr/bin/env")
    process.arguments = program.contains("/") ? arguments : [program] + arguments
    process.currentDirectoryURL = directory.map { URL(fileURLWithPath: $0) }
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    process.standardOutput = try FileHandle(forWritingTo: files[1])
    process.standardError = try FileHandle(forWritingTo: files[2])
    try process.run()
    process.waitUntilExit()
    return Command(
      exitCode: process.terminationStatus,
      output: Array(try Data(contentsOf: files[1])),
      errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
    )
  }
}

/// A directory of a test's own, which goes when the value does.
final class Scratch {
  let path: String

  init(_ files: [String: String] = [:]) throws {
    path = NSTemporaryDirectory() + "scratch-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, content) in files { try write(content, to: name) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ content: String, to name: String) throws {
    let file = URL(fileURLWithPath: path + "/" + name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try Data(content.utf8).write(to: file)
  }

  /// Makes a directory and gives its path.
  func directory(_ name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: path + "/" + name, withIntermediateDirectories: true)
    return path + "/" + name
  }

  /// The content of every file below a directory, by its name from there.
  func files(below name: String) throws -> [String: String] {
    var files: [String: String] = [:]
    for file in try FileManager.default.subpathsOfDirectory(atPath: path + "/" + name) {
      files[file] = try? String(contentsOfFile: path + "/" + name + "/" + file, encoding: .utf8)
    }
    return files
  }
}
