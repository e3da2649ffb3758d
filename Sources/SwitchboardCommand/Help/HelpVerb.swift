/// The verb `help`.
enum HelpVerb {
  static let verb = Verb(
    "help",
    summary: "explain a verb, or list all verbs",
    usage: ["[VERB]"],
    operands: [Operand("VERB", isOptional: true, "The verb to explain.")],
    examples: [Example("help list", "Explain the flags of 'list', with examples.")]
  ) { arguments in
    guard let name = arguments.operand(0) else {
      try Output.write(HelpText.overview(in: SwitchboardCommand.verbs))
      return .success
    }
    guard let verb = SwitchboardCommand.verb(named: name) else { throw SwitchboardCommand.unknownVerb(name) }
    try Output.write(HelpText.text(of: verb))
    return .success
  }
}
