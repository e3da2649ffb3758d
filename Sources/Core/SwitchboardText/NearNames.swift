/// Names that are similar to one that does not exist, for suggestions.
package struct NearNames {
  /// The similar names, best first.
  package let names: [String]

  package var best: String? { names.first }

  /// The most names that are compared, because a server may have very many long ones.
  private static let mostNames = 5000
  private static let mostLetters = 80
  /// The shortest beginning that matches. Shorter ones would match too many names.
  private static let leastBeginning = 3

  /// The names among `candidates` that differ from `name` in few letters, as a whole or in their last part, or of which
  /// `name` is the beginning. `name` itself is none of them: a user has typed it already.
  package init(of name: String, in candidates: some Sequence<String>) {
    let wanted = Self.letters(of: name)
    guard !wanted.isEmpty, wanted.count <= Self.mostLetters else {
      names = []
      return
    }
    let last = Self.lastPart(of: wanted)
    var found: [(name: String, distance: Int, startsAlike: Bool, edits: Int)] = []
    for candidate in candidates.prefix(Self.mostNames) {
      let letters = Self.letters(of: candidate)
      guard letters.count <= Self.mostLetters, !candidate.utf8.elementsEqual(name.utf8) else { continue }
      // Both "Greeter" and "helo.Greeter" are near to "hello.Greeter".
      let parts = Self.lastPart(of: letters)
      let edits = Self.distance(wanted, letters)
      var distance = min(edits, Self.distance(last, parts) + (parts == letters ? 0 : 1))
      let startsAlike = letters.first == wanted.first || parts.first == last.first
      // Half of another word is no mistake of spelling: `--port` is not `--cert`.
      if distance * 2 >= wanted.count, !startsAlike { distance = wanted.count }
      if last.count >= Self.leastBeginning, parts.starts(with: last), letters.count > wanted.count {
        distance = min(distance, letters.starts(with: wanted) ? 1 : 2)
      }
      guard distance <= max(2, wanted.count / 4), distance < wanted.count else { continue }
      found.append((candidate, distance, startsAlike, edits))
    }
    // Of names that begin alike, the one with the least more is meant: `--agents` by `--agent`, and not `--agent-token`.
    names = found.sorted { left, right in
      (left.distance, left.startsAlike ? 0 : 1, left.edits, left.name) < (
        right.distance, right.startsAlike ? 0 : 1, right.edits, right.name
      )
    }.prefix(3).map(\.name)
  }

  /// Without regard to case, with one separator, and without the dashes that all flags begin with.
  private static func letters(of name: String) -> [UInt8] {
    name.utf8.drop { $0 == UInt8(ascii: "-") }
      .map { $0 == UInt8(ascii: "/") ? UInt8(ascii: ".") : $0.lowercased }
  }

  private static func lastPart(of letters: [UInt8]) -> [UInt8] {
    letters.lastIndex(of: UInt8(ascii: ".")).map { Array(letters[($0 + 1)...]) } ?? letters
  }

  /// Whether two names differ by a slip of the finger: one letter too many, too few or wrong, or two in the wrong order. It takes a
  /// time that is proportional to their lengths.
  package static func differBySlip(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    let start = zip(left, right).prefix { $0 == $1 }.count
    let (leftRest, rightRest) = (left.dropFirst(start), right.dropFirst(start))
    let end = zip(leftRest.reversed(), rightRest.reversed()).prefix { $0 == $1 }.count
    let (leftPart, rightPart) = (leftRest.dropLast(end), rightRest.dropLast(end))
    return max(leftPart.count, rightPart.count) == 1
      || leftPart.count == 2 && leftPart.elementsEqual(rightPart.reversed())
  }

  /// The edit distance: how many letters must be inserted, removed or replaced.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    if left == right { return 0 }
    var row = Array(0...right.count)
    for (index, letter) in left.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for (column, other) in right.enumerated() {
        let replaced = diagonal + (letter == other ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, min(row[column], diagonal) + 1)
      }
    }
    return row[right.count]
  }
}
