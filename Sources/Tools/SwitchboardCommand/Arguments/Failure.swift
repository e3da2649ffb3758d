import Switchboard
import SwitchboardText
import SwitchboardToolSupport

/// The error with which a verb fails, as shown to the user.
struct Failure: Error, Sendable, Hashable {
  /// The message. The command's name is printed before it.
  var message: ShownText
  /// Suggestions for the user, one line each.
  var hints: [ShownText] = []
  var code: ExitCode

  init(_ message: ShownText, hints: [ShownText] = [], code: ExitCode) {
    self.message = message
    self.hints = hints
    self.code = code
  }

  /// Invalid arguments. The message refers to the help of `verb`.
  static func usage(_ message: ShownText, verb: String? = nil) -> Failure {
    Failure(message, hints: verb.map { ["Try 'switchboard help \($0)'."] } ?? [], code: .usage)
  }

  /// What other commands call flags of this one.
  private static let elsewhere = [
    "--import-path": "--include", "--insecure": "--insecure-skip-verify", "--listen": "--port",
    "--max-time": "--deadline", "--metadata": "--header", "--port": "--listen", "--proto-path": "--include",
    "--protoset": "--descriptor-set",
    "--timeout": "--deadline",
  ]

  /// What users write for the file of a result where standard output is the only place for it.
  private static let outputs: Set = ["-o", "--out", "--output", "--output-file"]

  /// A flag that the verb does not have, in a word of the line. Other commands take long names after a single dash.
  static func unknownFlag(_ name: String, in word: String, of verb: Verb) -> Failure {
    let names = verb.allFlags.flatMap(\.names)
    let typed = name.hasPrefix("--") ? name : String(word.prefix { $0 != "=" })
    let long = name.hasPrefix("--") ? typed : "-" + typed
    let known = names.first { $0 == long } ?? elsewhere[long].flatMap { names.contains($0) ? $0 : nil }
    let near = known ?? NearNames(of: typed, in: names).best
    var hints: [ShownText] = near.map { ["Did you mean \($0)?"] } ?? []
    if known == nil, !names.contains("--output"), outputs.contains(name) || outputs.contains(long) {
      hints = ["The result is on standard output, which '> FILE' keeps."]
    }
    if known == nil, let operand = verb.operands.first(where: { "--\($0.name.lowercased())" == long }) {
      let words = verb.operands.map(\.name).joined(separator: " ")
      hints = ["\(operand.name) has no flag before it: '\(verb.name) \(words)'."]
    }
    return Failure(
      "\(verb.name) has no flag '\(typed)'",
      hints: hints + ["Try 'switchboard help \(verb.name)'."],
      code: .usage
    )
  }

  /// A flag that changes nothing about what else was asked for.
  static func withoutEffect(_ flag: Flag, _ reason: ShownText) -> Failure {
    .usage("\(flag.name) has no effect: \(reason)")
  }

  /// An argument after the last that the verb takes.
  static func surplus(_ word: String, of verb: Verb) -> Failure {
    var failure = Failure.usage("unexpected argument: '\(word)'", verb: verb.name)
    let isData = word.utf8.first.map { "{[@".utf8.contains($0) } ?? false
    guard isData, verb.allFlags.contains(where: { $0.names.contains("-d") }) else { return failure }
    failure.hints.insert("A request follows the flag -d.", at: 0)
    return failure
  }

  /// A switch with something attached: `--json=true`, `-v=1`, or `-vt`, which is two flags for other commands.
  static func noValue(_ name: String, _ attached: String) -> Failure {
    guard !name.hasPrefix("--"), !attached.hasPrefix("=") else { return .usage("\(name) takes no value") }
    return .usage("\(name) takes no value; write each flag apart, as in \(name) -\(attached)")
  }

  /// A file that cannot be read.
  static func unreadable(_ error: SystemError) -> Failure { Failure("\(error)", code: .noInput) }
}
