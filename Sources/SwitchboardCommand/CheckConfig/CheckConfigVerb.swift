/// The verb `check-config`: finds what is wrong with a service config, and what has no effect in it.
enum CheckConfigVerb {
  static let quiet = Flag("-q", "--quiet", help: "Write nothing if all is well.")

  static let verb = Verb(
    "check-config",
    summary: "find what is wrong with a service config",
    usage: ["FILE [--quiet]"],
    details: [
      "Reads a service config in JSON, and writes a line for each finding, with its path in the file. Clients ignore members "
        + "that they do not know, so only this finds a misspelt one before it is missed.",
      "The exit code is 0 if there is nothing to correct, and 65 otherwise. A load balancing policy that this library does "
        + "not have is only noted: other clients may have it.",
    ],
    operands: [Operand("FILE", completion: .file, "The file; - is standard input.")],
    flags: [FlagGroup("Check", [quiet])],
    examples: [Example("check-config service-config.json", "Check a file, in a script or before a commit.")],
    run
  )

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let source = TextOrFile(path: arguments.operand(0) ?? "-")
    let shown = ShownText(source.fileName ?? "")
    let bytes = try source.bytes()
    let remarks = ConfigRemark.all(in: String(decoding: bytes, as: UTF8.self))
    for remark in remarks { try Output.write(remark.line(in: shown, bytes)) }
    guard remarks.contains(where: \.isMistake) else {
      if !arguments.has(quiet) { Output.note("\(shown): nothing to correct") }
      return .success
    }
    return .data
  }
}
