/// The help of the command and of its verbs, generated from the ``Verb`` values.
enum HelpText {
  static let usage: ShownText = """
    usage: switchboard VERB [ARGUMENT]...
           switchboard help [VERB]
           switchboard --help | --version
    """

  /// The list of verbs.
  static func overview(in verbs: [Verb], _ paint: Painter = Painter(Terminal.current())) -> ShownText {
    let shown = verbs.filter { !$0.isHidden }
    let lines = shown.map { Row($0.name, $0.summary) }
    return """
      Describes and calls gRPC servers, puts load on them, stands in for them, and generates Swift from .proto files.

      \(usage)

      \(paint(.heading, "Verbs"))
      \(table(lines, paint))

      'switchboard help VERB' explains a verb and its flags, with examples.

      \(exitCodes)
      """
  }

  static let exitCodes: ShownText = """
    The exit code is 0 for success, the code of the gRPC status if a call failed (5 is NOT_FOUND, 14 is UNAVAILABLE), 20 if a
    condition of 'load --fail-if' holds or no rate passes 'load --find-max', 64 for wrong arguments, 65 for wrong input, 66
    for a file that cannot be read, 74 for output that cannot be written, 130 after Ctrl-C, and 141 if the reader of the
    output went away. What a server or the files do not know is 5, too, and an address that cannot be listened at is 14.
    'generate' exits with 1 for files that are wrong or cannot be read or written, and with 2 for wrong arguments.
    """

  /// The help of one verb.
  static func text(of verb: Verb, _ paint: Painter = Painter(Terminal.current())) -> ShownText {
    if case .raw(_, let help) = verb.action { return ShownText(lines: help) }
    var parts: [ShownText] = ["\(verb.summary.capitalizedFirst).", ShownText(lines: usage(of: verb))]
    parts += verb.paragraphs.map { wrap($0, indent: 0) }
    if !verb.operands.isEmpty { parts.append(table(verb.operands.map { Row($0.name, $0.text) }, paint)) }
    for group in verb.flags where !group.flags.isEmpty {
      parts.append(
        paint(.heading, group.title) + "\n" + table(group.flags.map { Row($0.shown, $0.text) }, paint)
      )
    }
    if !verb.examples.isEmpty {
      let examples = verb.examples.map { example -> ShownText in
        "  \(example.meaning)\n    \(paint(.name, "switchboard \(example.line)"))"
      }
      parts.append(paint(.heading, "Examples") + "\n" + examples.joined(separator: "\n"))
    }
    return parts.joined(separator: "\n\n")
  }

  static func usage(of verb: Verb) -> String {
    verb.usage.enumerated()
      .map { line in
        (line.offset == 0 ? "usage: " : "       ") + "switchboard \(verb.name)"
          + (line.element.isEmpty ? "" : " \(line.element)")
      }
      .joined(separator: "\n")
  }

  // MARK: Layout

  /// A word and what it means.
  private struct Row {
    let word: String
    let meaning: String

    init(_ word: String, _ meaning: String) {
      self.word = word
      self.meaning = meaning
    }
  }

  private static let width = 100
  private static let widestWord = 28

  private static func table(_ rows: [Row], _ paint: Painter) -> ShownText {
    let column = min(rows.map(\.word.count).max() ?? 0, widestWord) + 4
    return rows.map { row -> ShownText in
      let text = wrap(row.meaning, indent: column)
      let word = "  " + paint(.name, row.word)
      guard row.word.count + 4 <= column else { return word + "\n" + spaces(column) + text }
      return word + spaces(column - 2 - row.word.count) + text
    }.joined(separator: "\n")
  }

  /// Breaks a paragraph into lines; all but the first start with an indent.
  static func wrap(_ text: String, indent: Int) -> ShownText {
    var lines: [ShownText] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > width {
        lines.append(ShownText(line))
        line = ""
      }
      line += line.isEmpty ? word : " " + word
    }
    lines.append(ShownText(line))
    return lines.joined(separator: "\n" + spaces(indent))
  }

  private static func spaces(_ count: Int) -> ShownText { ShownText(String(repeating: " ", count: count)) }
}

extension String {
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
