/// The verbs that shells and installations need: `completions`, `man`, and `complete`, which scripts call.
enum CompletionVerbs {
  static let completions = Verb(
    "completions",
    summary: "write the script that completes this command in a shell",
    usage: ["SHELL"],
    details: [
      "The script asks this command for the candidates of each word, and the command asks the server on the line for its "
        + "services and methods. 'make install' installs the scripts for all three shells."
    ],
    operands: [Operand("SHELL", completion: .words(["bash", "zsh", "fish"]), "bash, zsh or fish.")],
    examples: [
      Example("completions bash > ~/.local/share/bash-completion/completions/switchboard", "For bash."),
      Example("completions fish > ~/.config/fish/completions/switchboard.fish", "For fish."),
    ]
  ) { arguments in
    let name = arguments.operand(0) ?? ""
    guard let script = CompletionScript(rawValue: name) else {
      let shells = CompletionScript.allCases.map(\.rawValue).joined(separator: ", ")
      throw Failure.usage("there are completions for \(shells), not for '\(name)'")
    }
    try Output.write(ShownText(lines: script.text))
    return .success
  }

  /// The verb, given all verbs of the command.
  static func man(of verbs: @escaping @Sendable () -> [Verb]) -> Verb {
    Verb(
      "man",
      summary: "write the man page",
      usage: [""],
      details: ["'man -l <(switchboard man)' shows it; 'make install' installs it."],
      examples: [Example("man > switchboard.1", "Keep the page.")]
    ) { _ in
      try Output.write(ShownText(lines: ManPage.text(of: verbs())), end: "")
      return .success
    }
  }

  static let timeout = Flag(
    "--deadline",
    value: "TIME",
    help: "How long to wait for a server; the default is 1.5s, because a completion must be quick."
  )

  /// Writes the candidates for the last word, one per line, each with its meaning after a tab; `:file` and `:directory`
  /// leave the word to the shell. Prints no errors, because they would appear in the middle of the command line.
  static func complete(among verbs: @escaping @Sendable () -> [Verb]) -> Verb {
    Verb(
      "complete",
      summary: "write the candidates for the last of some words",
      usage: ["-- WORD..."],
      operands: [
        Operand("WORD", isOptional: true, repeats: true, "The words after 'switchboard', up to the cursor.")
      ],
      flags: [FlagGroup("Completion", [timeout])],
      isHidden: true
    ) { arguments in
      let time = try arguments.duration(timeout) ?? .milliseconds(1500)
      let request = CompletionRequest(arguments.operands, verbs(), timeout: time)
      let candidates = await request.candidates()
      if !candidates.isEmpty { try Output.write(candidates.joined(separator: "\n")) }
      return .success
    }
  }
}
