import SwitchboardToolSupport

/// Why the tool ends without success.
struct CommandFailure: Error, Hashable {
  /// The codes that the tool exits with.
  enum ExitCode: Int32 {
    case success = 0
    case failed = 1
    case usage = 2
  }

  /// What to tell the user.
  var lines: [String]
  var exitCode: ExitCode

  init(lines: [String], exitCode: ExitCode) {
    self.lines = lines
    self.exitCode = exitCode
  }

  /// A failure that the tool speaks of in its own name.
  init(_ message: String, exitCode: ExitCode) {
    self.init(lines: ["switchboard: \(message)"], exitCode: exitCode)
  }

  /// Calls `body`, and ends with `exitCode` where the system refuses.
  static func catching<R>(
    _ exitCode: ExitCode,
    _ body: () throws(SystemError) -> R
  ) throws(CommandFailure) -> R {
    do {
      return try body()
    } catch {
      throw CommandFailure(error.description, exitCode: exitCode)
    }
  }
}
