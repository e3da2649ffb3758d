import Switchboard
import SwitchboardToolSupport

/// Why a verb ends without having done its work, for the user.
struct Failure: Error, Sendable, Hashable {
  /// The message: what is wrong. The command's name is put before the first line.
  var message: String
  /// What the user can do, a line each.
  var hints: [String] = []
  var code: ExitCode

  init(_ message: String, hints: [String] = [], code: ExitCode) {
    self.message = message
    self.hints = hints
    self.code = code
  }

  /// The arguments are wrong. `verb` is the one whose help says what is accepted.
  static func usage(_ message: String, verb: String? = nil) -> Failure {
    Failure(message, hints: verb.map { ["Try 'switchboard help \($0)'."] } ?? [], code: .usage)
  }

  static func unknownFlag(_ name: String, of verb: Verb) -> Failure {
    let near = NearNames(of: name, in: verb.allFlags.flatMap(\.names)).best
    return Failure(
      "\(verb.name) has no flag '\(name)'",
      hints: near.map { ["Did you mean \($0)?"] } ?? [] + ["Try 'switchboard help \(verb.name)'."],
      code: .usage
    )
  }

  /// A file that cannot be read.
  static func unreadable(_ error: SystemError) -> Failure { Failure("\(error)", code: .noInput) }
}
