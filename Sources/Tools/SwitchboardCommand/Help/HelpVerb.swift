/// The verb `help`.
enum HelpVerb {
  /// The verb, given all verbs of the command, of which it is one.
  static func verb(among verbs: @escaping @Sendable () -> [Verb]) -> Verb {
    Verb(
      "help",
      summary: "explain a verb, or list all verbs",
      usage: ["[VERB]"],
      operands: [Operand("VERB", isOptional: true, "The verb to explain.")],
      examples: [Example("help list", "Explain the flags of 'list', with examples.")]
    ) { arguments in
      let verbs = verbs()
      guard let name = arguments.operand(0) else {
        try Output.write(HelpText.overview(in: verbs))
        return .success
      }
      try Output.write(HelpText.text(of: verbs.named(name)))
      return .success
    }
  }
}
