import SwitchboardGenerateVerb

/// The verb `generate`, which is identical to the program `switchboard-generate`.
enum GenerateEntry {
  private static let name = "switchboard generate"

  /// The flags are declared only for completions; the verb parses its arguments itself.
  static let verb = Verb(
    name: "generate",
    summary: "generate Swift from .proto files",
    usage: ["[-I DIR]... --output DIR [--option Key=Value]... FILE..."],
    operands: [
      Operand("FILE", isOptional: true, repeats: true, completion: .file, "A .proto file to generate for.")
    ],
    flags: [
      FlagGroup(
        "Generating",
        [
          Flag(
            "-I",
            "--include",
            value: "DIR",
            repeats: true,
            completion: .directory,
            help: "Look for files in DIR."
          ),
          Flag("-o", "--output", value: "DIR", completion: .directory, help: "Write to this directory."),
          Flag("--option", value: "Key=Value", repeats: true, help: "Set an option of the generator."),
          Flag(
            "--configuration",
            value: "JSON",
            completion: .file,
            help: "Take everything from a switchboard.json."
          ),
          Flag(
            "--descriptor-set",
            value: "SET",
            completion: .file,
            help: "Read compiled files instead of sources."
          ),
          Flag("--expect", value: "NAME", repeats: true, help: "Always write the output file NAME."),
        ]
      )
    ],
    action: .raw(
      { ExitCode(rawValue: await GenerateVerb.run($0, as: name, hint: "switchboard help generate")) },
      help: GenerateVerb.help(as: name)
    )
  )
}
