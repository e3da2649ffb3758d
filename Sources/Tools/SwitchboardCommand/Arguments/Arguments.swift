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
      // `-data` is no `-d` with the value `ata`.
      let isLong = attached != nil && flags["-\(word.prefix { $0 != "=" })"] != nil
      guard let flag = flags[name], !isLong else { throw .unknownFlag(name, in: word, of: verb) }
      if flag == .help { return nil }
      try take(flag, name, attached, from: &rest)
    }
    try checkOperands(of: verb)
  }

  /// `localhost 50051`: no name of a service, of a method or of a type is a number.
  private func checkPort(of verb: Verb) throws(Failure) {
    guard verb.operands.first?.name == Operand.target.name, let host = operand(0), let port = operand(1),
      !host.utf8.contains(UInt8(ascii: ":")), UInt16(port).map({ $0 > 0 }) == true
    else { return }
    throw Failure(
      "'\(port)' is a port, which follows its host after a colon",
      hints: ["Write '\(host):\(port)'."],
      code: .usage
    )
  }

  private func checkOperands(of verb: Verb) throws(Failure) {
    try checkPort(of: verb)
    let required = verb.operands.count { !$0.isOptional }
    if operands.count < required {
      let missing = verb.operands[operands.count]
      throw .usage("\(missing.name) is missing. \(missing.text)", verb: verb.name)
    }
    if operands.count > verb.operands.count, verb.operands.last?.repeats != true {
      throw .surplus(operands[verb.operands.count], of: verb)
    }
    // The last word of a line that is being completed may be empty. Elsewhere it is a variable that is not set.
    guard !verb.isHidden, let empty = operands.firstIndex(of: "") else { return }
    let operand = verb.operands[min(empty, verb.operands.count - 1)]
    throw .usage("\(operand.name) is empty", verb: verb.name)
  }

  private mutating func take(
    _ flag: Flag,
    _ name: String,
    _ attached: String?,
    from rest: inout ArraySlice<String>
  ) throws(Failure) {
    guard flag.repeats || values[flag.name] == nil else { throw .usage("\(name) is given twice") }
    guard let kind = flag.value else {
      guard attached == nil else { throw .noValue(name, attached ?? "") }
      values[flag.name, default: []].append("")
      return
    }
    guard let value = attached ?? Self.value(from: &rest) else {
      // A word that looks like a flag is one, so the value is missing.
      throw .usage(
        "\(name) needs a value: \(kind)"
          + (rest.first.map { "; if '\($0)' is meant to be it, write \(flag.name)=\($0)" } ?? "")
      )
    }
    // A variable that is not set, most likely.
    guard !value.isEmpty else { throw .usage("\(name) needs a value: \(kind), which is empty") }
    values[flag.name, default: []].append(value)
  }

  /// The next word, unless it looks like a flag. No flag begins as a number does.
  private static func value(from rest: inout ArraySlice<String>) -> String? {
    guard let next = rest.first else { return nil }
    let second = next.utf8.dropFirst().first
    let isNumber = second.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    guard next == "-" || !next.hasPrefix("-") || isNumber else { return nil }
    return rest.popFirst()
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

  /// A length of time, such as `1.5s`. Zero is one only where it means something.
  func duration(
    _ flag: Flag,
    orZero: Bool = false,
    atMost limit: Duration = .hundredYears
  ) throws(Failure) -> Duration? {
    guard let text = self[flag] else { return nil }
    guard let seconds = Duration.seconds(argument: text) else {
      throw .usage("\(flag.name) needs a time such as 500ms, 10s, 1.5m or 1h, not '\(text)'")
    }
    guard seconds > 0 || orZero && seconds == 0 else {
      throw .usage("\(flag.name) needs a time \(orZero ? "of zero or more" : "above zero"), not '\(text)'")
    }
    guard seconds <= limit / .seconds(1) else {
      let most = limit == .hundredYears ? "a hundred years" : "a day"
      throw .usage("\(flag.name) is more than \(most): '\(text)'")
    }
    return .seconds(seconds)
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
