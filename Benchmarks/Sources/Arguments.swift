/// The words of the command line, taken one after the other.
struct Arguments {
  /// Words that are not those of the usage.
  struct Misuse: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
  }

  private var rest: ArraySlice<String>

  init(_ words: [String]) { rest = words[...] }

  /// The next word, which the usage calls `name`.
  mutating func next(_ name: String) throws(Misuse) -> String {
    guard let word = rest.popFirst() else { throw Misuse(text: "\(name) is missing\n\(Benchmarks.usage)") }
    return word
  }

  /// The next word as a number above zero.
  mutating func nextCount(_ name: String) throws(Misuse) -> Int {
    let word = try next(name)
    guard let count = Int(word), count > 0 else {
      throw Misuse(text: "\(name) is '\(word)', which is no number above zero")
    }
    return count
  }

  /// Makes sure that no word is left.
  func end() throws(Misuse) {
    guard let word = rest.first else { return }
    throw Misuse(text: "nothing was expected at '\(word)'\n\(Benchmarks.usage)")
  }
}
