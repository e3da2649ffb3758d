/// Why the tool fails.
package struct CommandFailure: Error, Hashable {
  /// The exit codes of the tool.
  package enum ExitCode: Int32 {
    case success = 0
    case failed = 1
    case usage = 2
  }

  /// The message for the user.
  package var lines: [String]
  package var exitCode: ExitCode

  package init(lines: [String], exitCode: ExitCode) {
    self.lines = lines
    self.exitCode = exitCode
  }

  /// A failure of the tool itself; the message gets its name as a prefix.
  package init(_ message: String, exitCode: ExitCode) {
    self.init(lines: ["switchboard: \(message)"], exitCode: exitCode)
  }

  /// Calls `body`; an error becomes a failure with `exitCode`.
  package static func catching<R, Failure: Error & CustomStringConvertible>(
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
