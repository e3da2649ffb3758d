/// The arguments of a verb, after parsing.
struct Arguments: Sendable {
  /// The arguments without a dash, in order.
  private(set) var operands: [String] = []
  /// The values of each flag by its name, in order; empty strings for a switch.
  private var values: [String: [String]] = [:]

  /// Parses the words after a verb. Nil if the user asks for help.
  init?(_ words: [String], for verb: Verb) throws(Failure) {
    let flags = Dictionary(
      verb.allFlags.flatMap { flag in flag.names.map { ($0, flag) } },
      uniquingKeysWith: { first, _ in first }
    )
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        break
      }
      guard word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      let (name, attached) = Self.split(word)
      guard let flag = flags[name] else { throw .unknownFlag(name, of: verb) }
      if flag == .help { return nil }
      try take(flag, name, attached, from: &rest)
    }
    let required = verb.operands.count { !$0.isOptional }
    if operands.count < required {
      throw .usage("\(verb.operands[operands.count].name) is missing", verb: verb.name)
    }
    if operands.count > verb.operands.count, verb.operands.last?.repeats != true {
      throw .usage("unexpected argument: '\(operands[verb.operands.count])'", verb: verb.name)
    }
  }

  private mutating func take(
    _ flag: Flag,
    _ name: String,
    _ attached: String?,
    from rest: inout ArraySlice<String>
  ) throws(Failure) {
    guard flag.repeats || values[flag.name] == nil else { throw .usage("\(name) is given twice") }
    guard let kind = flag.value else {
      guard attached == nil else { throw .usage("\(name) takes no value") }
      values[flag.name, default: []].append("")
      return
    }
    if let attached {
      values[flag.name, default: []].append(attached)
    } else if let next = rest.first, next == "-" || !next.hasPrefix("-") {
      values[flag.name, default: []].append(next)
      rest.removeFirst()
    } else {
      // A word that looks like a flag is one, so the value is missing.
      throw .usage(
        "\(name) needs a \(kind)"
          + (rest.first.map { "; if '\($0)' is meant to be it, write \(flag.name)=\($0)" } ?? "")
      )
    }
  }

  /// A flag and the value attached to it: `--flag=value` or `-Fvalue`.
  private static func split(_ word: String) -> (name: String, value: String?) {
    guard word.hasPrefix("--") else {
      return (String(word.prefix(2)), word.count > 2 ? String(word.dropFirst(2)) : nil)
    }
    guard let equals = word.firstIndex(of: "=") else { return (word, nil) }
    return (String(word[..<equals]), String(word[word.index(after: equals)...]))
  }

  // MARK: Reading

  /// Whether a flag was given.
  func has(_ flag: Flag) -> Bool { values[flag.name] != nil }

  /// The values of a flag, in order.
  func all(_ flag: Flag) -> [String] { values[flag.name] ?? [] }

  /// The value of a flag that is given once.
  subscript(flag: Flag) -> String? { values[flag.name]?.last }

  /// The operand at an index, if there is one.
  func operand(_ index: Int) -> String? { operands.indices.contains(index) ? operands[index] : nil }

  /// A whole number in a range.
  func integer(_ flag: Flag, in range: ClosedRange<Int>) throws(Failure) -> Int? {
    guard let text = self[flag] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      let bounds =
        range.upperBound == .max
        ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
      throw .usage("\(flag.name) needs a whole number \(bounds), not '\(text)'")
    }
    return number
  }

  /// A length of time, such as `1.5s`.
  func duration(_ flag: Flag) throws(Failure) -> Duration? {
    guard let text = self[flag] else { return nil }
    guard let duration = Duration(argument: text) else {
      throw .usage("\(flag.name) needs a time such as 500ms, 10s, 1.5m or 1h, not '\(text)'")
    }
    return duration
  }

  /// One of some words.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ flag: Flag,
    of type: Choice.Type = Choice.self
  ) throws(Failure) -> Choice? where Choice.RawValue == String {
    guard let text = self[flag] else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw .usage("\(flag.name) needs one of \(words), not '\(text)'")
    }
    return choice
  }
}
