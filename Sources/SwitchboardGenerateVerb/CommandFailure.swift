/// Why the tool fails.
struct CommandFailure: Error, Hashable {
  /// The exit codes of the tool.
  enum ExitCode: Int32 {
    case success = 0
    case failed = 1
    case usage = 2
  }

  /// The message for the user.
  var lines: [String]
  var exitCode: ExitCode

  init(lines: [String], exitCode: ExitCode) {
    self.lines = lines
    self.exitCode = exitCode
  }

  /// A failure of the tool itself; the message gets its name as a prefix.
  init(_ message: String, exitCode: ExitCode) {
    self.init(lines: ["switchboard: \(message)"], exitCode: exitCode)
  }

  /// Calls `body`; an error becomes a failure with `exitCode`.
  static func catching<R, Failure: Error & CustomStringConvertible>(
    _ exitCode: ExitCode,
    _ body: () throws(Failure) -> R
  ) throws(CommandFailure) -> R {
    do {
      return try body()
    } catch {
      throw CommandFailure(error.description, exitCode: exitCode)
    }
  }
}
