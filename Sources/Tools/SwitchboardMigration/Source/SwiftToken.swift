/// A piece of Swift that a rule may look at. Comments and white space are between tokens.
struct SwiftToken: Sendable, Hashable {
  enum Kind: UInt8, Sendable {
    /// A name or a keyword, `_` included, without backticks.
    case word
    case number
    /// The text of a string literal with its quotes, up to an interpolation, between two, or after one.
    case text
    /// One character, or `->`.
    case mark
  }

  let kind: Kind
  /// Whether the token is the first on its line.
  let beginsLine: Bool
  /// The token's bytes in the file, which is never longer than such a number can say.
  let start: Int32
  let end: Int32

  var range: Range<Int> { Int(start)..<Int(end) }
}
