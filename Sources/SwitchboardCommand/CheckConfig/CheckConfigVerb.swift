import Switchboard
import SwitchboardToolSupport

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
    let path = arguments.operand(0) ?? "-"
    let shown = path == "-" ? "standard input" : path
    let findings = ServiceConfig.check(json: try read(path)).map(Finding.init)
    for finding in findings { try Output.write("\(shown): \(finding.shown)") }
    guard findings.contains(where: \.isMistake) else {
      if !arguments.has(quiet) { Output.note("\(shown): nothing to correct") }
      return .success
    }
    return .data
  }

  private static func read(_ path: String) throws(Failure) -> String {
    do {
      let bytes = path == "-" ? try Descriptor.standardInput.readAll() : try readFile(path)
      return String(decoding: bytes, as: UTF8.self)
    } catch {
      throw .unreadable(error)
    }
  }

  /// A finding, with the name that is probably meant.
  private struct Finding {
    let finding: ConfigFinding
    let near: String?

    init(_ finding: ConfigFinding) {
      self.finding = finding
      let others = finding.candidates.filter { !$0.utf8.elementsEqual(finding.name.utf8) }
      near = NearNames(of: finding.name, in: others).best
    }

    var isMistake: Bool { !finding.isCommon || near != nil }
    var shown: String { "\(finding)" + (near.map { " (did you mean \($0)?)" } ?? "") }
  }
}
