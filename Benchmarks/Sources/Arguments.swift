/// The words of the command line, taken one after the other, and its flags, which may stand anywhere.
struct Arguments {
  /// Words that are not those of the usage.
  struct Misuse: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
  }

  /// What changes how calls are made or served.
  enum Flag: String, CaseIterable {
    case tls = "--tls"
    case onLoop = "--on-loop"
    case lowLatency = "--low-latency"
  }

  private var rest: ArraySlice<String>
  private var flags: Set<Flag> = []

  init(_ words: [String]) throws(Misuse) {
    var positional: [String] = []
    for word in words {
      if let flag = Flag(rawValue: word) {
        flags.insert(flag)
      } else if word.hasPrefix("--"), word != "--help" {
        throw Misuse(text: "there is no option \(word)\n\(Benchmarks.usage)")
      } else {
        positional.append(word)
      }
    }
    rest = positional[...]
  }

  /// The next word, which the usage calls `name`.
  mutating func next(_ name: String) throws(Misuse) -> String {
    guard let word = rest.popFirst() else { throw Misuse(text: "\(name) is missing\n\(Benchmarks.usage)") }
    return word
  }

  /// The next word as a number above zero.
  mutating func nextCount(_ name: String) throws(Misuse) -> Int {
    let count = try nextNumber(name)
    guard count > 0 else { throw Misuse(text: "\(name) is \(count), which is no number above zero") }
    return count
  }

  /// The next word as a number.
  mutating func nextNumber(_ name: String) throws(Misuse) -> Int {
    let word = try next(name)
    guard let number = Int(word), number >= 0 else {
      throw Misuse(text: "\(name) is '\(word)', which is no number")
    }
    return number
  }

  /// Whether a flag was given, which is then no surprise to `end`.
  mutating func take(_ flag: Flag) -> Bool { flags.remove(flag) != nil }

  /// Makes sure that no word and no flag is left.
  func end() throws(Misuse) {
    if let flag = flags.first {
      throw Misuse(text: "\(flag.rawValue) has no meaning here\n\(Benchmarks.usage)")
    }
    guard let word = rest.first else { return }
    throw Misuse(text: "nothing was expected at '\(word)'\n\(Benchmarks.usage)")
  }
}
