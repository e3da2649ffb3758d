import SwitchboardGenerateArguments
import SwitchboardSchema
import SwitchboardToolSupport

/// The verb `generate`: the whole of `switchboard-generate`, which builds run, and a part of `switchboard`.
package enum GenerateVerb {
  /// Runs the verb, and reports what went wrong.
  ///
  /// - Parameters:
  ///   - arguments: What follows the name.
  ///   - name: What the user called: a program, or a program and its verb.
  ///   - hint: What the user may call for help.
  /// - Returns: The exit code.
  package static func run(_ arguments: [String], as name: String, hint: String) async -> Int32 {
    do throws(CommandFailure) {
      switch try invocation(arguments, hint: hint) {
      case .help: try say(help(as: name))
      case .version: try say("switchboard \(Release.version)")
      case .generate(let arguments): try await GenerateCommand(arguments).run()
      }
      return CommandFailure.ExitCode.success.rawValue
    } catch {
      error.lines.forEach(complain)
      return error.exitCode.rawValue
    }
  }

  private static func invocation(
    _ arguments: [String],
    hint: String
  ) throws(CommandFailure) -> Invocation {
    do {
      return try Invocation(arguments: arguments)
    } catch {
      throw CommandFailure(lines: ["switchboard: \(error.message)", "Try '\(hint)'."], exitCode: .usage)
    }
  }

  private static func say(_ text: String) throws(CommandFailure) {
    try CommandFailure.catching(.failed) { () throws(SystemError) in
      try Descriptor.standardOutput.writeAll(Array("\(text)\n".utf8))
    }
  }
}
