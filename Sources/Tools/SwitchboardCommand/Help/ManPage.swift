import SwitchboardSchema
import SwitchboardToolSupport

/// The man page, generated from the ``Verb`` values.
enum ManPage {
  static func text(of verbs: [Verb]) -> String {
    let shown = verbs.filter { !$0.isHidden }
    var page = Page()
    page.raw(".TH SWITCHBOARD 1 \"\" \"switchboard \(Release.version)\" \"User Commands\"")
    page.section("NAME")
    page.text("switchboard - query, call and mock gRPC servers, and generate Swift from .proto files")
    page.section("SYNOPSIS")
    for verb in shown {
      for usage in verb.usage {
        page.raw(".B switchboard \(Page.escaped(verb.name))")
        page.text(usage)
        page.raw(".br")
      }
    }
    page.section("VERBS")
    for verb in shown { page.verb(verb) }
    page.section("EXIT STATUS")
    page.text(HelpText.exitCodes.text.split(separator: "\n").joined(separator: " "))
    page.section("ENVIRONMENT")
    page.item("NO_COLOR", "No colors, even on a terminal.")
    page.item("CLICOLOR_FORCE", "Colors, even without a terminal.")
    page.item("https_proxy, no_proxy", "The HTTP proxy for connections, and the targets that need none.")
    return page.lines.joined(separator: "\n") + "\n"
  }

  /// The troff source of a page.
  private struct Page {
    var lines: [String] = []

    mutating func raw(_ line: String) { lines.append(line) }

    mutating func section(_ name: String) { raw(".SH \(name)") }

    mutating func text(_ text: String) {
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) { raw(Self.escaped(line)) }
    }

    mutating func item(_ name: String, _ meaning: String) {
      raw(".TP")
      raw(".B \(Self.escaped(name))")
      text(meaning)
    }

    mutating func verb(_ verb: Verb) {
      raw(".SS \(Self.escaped(verb.name))")
      text(verb.summary.capitalizedFirst + ".")
      if case .raw(_, let help) = verb.action {
        raw(".nf")
        text(help)
        return raw(".fi")
      }
      for paragraph in verb.paragraphs {
        raw(".PP")
        text(paragraph)
      }
      for operand in verb.operands { item(operand.name, operand.text) }
      for flag in verb.flags.flatMap(\.flags) { item(flag.shown, flag.text) }
      guard !verb.examples.isEmpty else { return }
      raw(".PP")
      text("Examples:")
      for example in verb.examples {
        raw(".PP")
        text(example.meaning)
        raw(".br")
        raw(".RS 4")
        text("switchboard \(example.line)")
        raw(".RE")
      }
    }

    /// Escapes a line for troff: no escape sequences, no requests at the start, and dashes that can be copied.
    static func escaped(_ line: some StringProtocol) -> String {
      var text = ""
      for character in line {
        switch character {
        case "\\": text += "\\e"
        case "-": text += "\\-"
        case "'": text += "\\(aq"
        case "`": text += "\\(ga"
        case "^": text += "\\(ha"
        case "~": text += "\\(ti"
        default: text.append(character)
        }
      }
      return text.hasPrefix(".") ? "\\&" + text : text
    }
  }
}
