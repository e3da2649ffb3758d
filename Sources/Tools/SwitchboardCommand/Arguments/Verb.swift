import SwitchboardText

/// A verb of the command: what it is called, what it takes, and what it does.
///
/// The help, the man page and the completions are generated from this value. To add a verb, make a folder with an
/// `enum` that has a `static let verb`, and list it in ``SwitchboardCommand/verbs``:
///
/// ```swift
/// enum GreetVerb {
///   static let times = Flag("-n", "--times", value: "N", help: "Greet N times.")
///
///   static let verb = Verb(
///     "greet",
///     summary: "greet a server",
///     usage: ["TARGET [FLAG]..."],
///     operands: [.target],
///     flags: [FlagGroup("Greeting", [times]), TargetFlags.group],
///     examples: [Example("greet localhost:50051 -n 3", "Greet three times.")]
///   ) { arguments in
///     let target = try Target(arguments)
///     let channel = try target.channel()
///     ...
///     return .success
///   }
/// }
/// ```
///
/// The closure runs with the parsed arguments. It throws a ``Failure``, or a gRPC status, whose code becomes the exit
/// code. It writes through ``Output``.
struct Verb: Sendable {
  typealias Body = @Sendable (Arguments) async throws -> ExitCode

  /// The implementation of a verb.
  enum Action: Sendable {
    /// Runs with the parsed arguments.
    case parsed(Body)
    /// Runs with the unparsed arguments, for a verb with its own parser and help.
    case raw(@Sendable ([String]) async -> ExitCode, help: String)
  }

  let name: String
  /// A short summary that starts with a verb in lower case: "list services and methods".
  let summary: String
  /// The possible arguments after the name, one line for each form.
  let usage: [String]
  /// More about the verb, a paragraph each.
  var details: [String] = []
  var operands: [Operand] = []
  var flags: [FlagGroup] = []
  /// Which of them have no effect, alone or beside others.
  var flagRules: [FlagRule] = []
  var examples: [Example] = []
  /// Whether the verb is for programs and omitted from the list of verbs.
  var isHidden = false
  let action: Action

  /// What the help says about the verb: its details, and what its flags have in common.
  var paragraphs: [String] {
    details + (allFlags.contains { $0.value == "TIME" } ? [Duration.argumentHelp] : [])
  }

  /// All flags, and `--help`, which every verb has.
  var allFlags: [Flag] { flags.flatMap(\.flags) + [.help] }
}

extension Verb {
  /// A verb whose arguments are parsed by its flags and operands.
  init(
    _ name: String,
    summary: String,
    usage: [String],
    details: [String] = [],
    operands: [Operand] = [],
    flags: [FlagGroup] = [],
    flagRules: [FlagRule] = [],
    examples: [Example] = [],
    isHidden: Bool = false,
    _ body: @escaping Body
  ) {
    self.init(
      name: name,
      summary: summary,
      usage: usage,
      details: details,
      operands: operands,
      flags: flags,
      flagRules: flagRules,
      examples: examples,
      isHidden: isHidden,
      action: .parsed(body)
    )
  }
}

extension [Verb] {
  /// The verb with a name that the user typed.
  func named(_ name: String) throws(Failure) -> Verb {
    if let verb = first(where: { $0.name == name }) { return verb }
    let known = filter { !$0.isHidden }.map(\.name)
    let list: ShownText = "The verbs are \(known.joined(separator: ", "))."
    guard !name.hasPrefix("-") else {
      throw Failure("a verb comes first, and '\(name)' is a flag", hints: [list], code: .usage)
    }
    let near = NearNames(of: name, in: known).best
    throw Failure(
      "there is no verb '\(name)'",
      hints: [near.map { "Did you mean '\($0)'?" } ?? list],
      code: .usage
    )
  }
}

/// A command line as an example, and what it shows.
struct Example: Sendable, Hashable {
  /// The words after `switchboard`.
  let line: String
  let meaning: String

  init(_ line: String, _ meaning: String) {
    self.line = line
    self.meaning = meaning
  }
}
