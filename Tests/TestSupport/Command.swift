import Foundation

/// Runs a command to its end and returns its output.
public struct Command: Sendable {
  public var exitCode: Int32
  public var output: [UInt8]
  public var errors: String

  /// Runs a product of this package.
  public static func product(
    _ name: String,
    _ arguments: [String],
    input: [UInt8] = [],
    in directory: String? = nil
  ) throws -> Command {
    try run(path(ofProduct: name), arguments, input: input, in: directory)
  }

  /// The path of a built product, which is next to the tests.
  public static func path(ofProduct name: String) -> String {
    let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    return tests.appendingPathComponent(name).path
  }

  /// Runs a system program, found on the PATH unless it is a path.
  public static func run(
    _ program: String,
    _ arguments: [String],
    input: [UInt8] = [],
    in directory: String? = nil
  ) throws -> Command {
    // Through files, because a pipe that is not read yet blocks the command.
    let scratch = URL(fileURLWithPath: NSTemporaryDirectory() + "command-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    let files = ["in", "out", "err"].map { scratch.appendingPathComponent($0) }
    try Data(input).write(to: files[0])
    let script = #"""
      in=$1 out=$2 err=$3
      cd "$4" && shift 4 && exec "$@" <"$in" >"$out" 2>"$err"
      """#
    let here = directory ?? FileManager.default.currentDirectoryPath
    let process = try ChildProcess(
      "/bin/sh",
      ["-c", script, "sh"] + files.map(\.path) + [here, program] + arguments
    )
    return Command(
      exitCode: process.exitCode(),
      output: Array(try Data(contentsOf: files[1])),
      errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
    )
  }
}
