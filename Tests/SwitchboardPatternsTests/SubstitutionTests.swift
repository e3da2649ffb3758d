import SwitchboardPatterns
import Testing

@Suite struct SubstitutionTests {
  private func replace(_ pattern: String, by rewrite: String, in text: String) throws -> String {
    let substitution = try Substitution(of: Pattern(pattern), by: rewrite)
    return String(decoding: substitution.applied(to: Array(text.utf8).span), as: UTF8.self)
  }

  @Test(arguments: [
    ("^user-([0-9]+)-.*$", "\\1", "user-17-web", "17"), ("b+", "X", "abbbcb", "aXcX"),
    ("(a)(b)?", "<\\2\\1\\0>", "aab", "<aa><baab>"), ("x*", "-", "ab", "-a-b-"), ("é", "e", "été", "ete"),
    ("[0-9]+", "", "a1b22", "ab"), ("a", "\\\\$1", "a", "\\$1"), ("z", "y", "abc", "abc"), ("a", "b", "", ""),
  ])
  func everyMatchIsReplaced(_ pattern: String, _ rewrite: String, _ text: String, _ result: String) throws {
    #expect(try replace(pattern, by: rewrite, in: text) == result)
  }

  @Test func bytesThatAreNotUTF8Stay() throws {
    let substitution = try Substitution(of: Pattern("a"), by: "b")
    let text: [UInt8] = [0xff, 0x61, 0xc3, 0, 0x61]
    #expect(substitution.applied(to: text.span) == [0xff, 0x62, 0xc3, 0, 0x62])
  }

  @Test(arguments: [
    (
      "(a)", "\\2",
      "Rewrite schema requests 2 matches, but the regexp only has 1 parenthesized subexpressions."
    ),
    ("a", "\\x", "Rewrite schema error: '\\' must be followed by a digit or '\\'."),
    ("a", "\\", "Rewrite schema error: '\\' not allowed at end."),
    ("a", String(repeating: "b", count: 257), "has more than 256 bytes"),
  ])
  func whatNamesNoGroupIsRefused(_ pattern: String, _ rewrite: String, _ words: String) throws {
    let pattern = try Pattern(pattern)
    #expect(throws: PatternError.self) { try Substitution(of: pattern, by: rewrite) }
    do throws(PatternError) {
      _ = try Substitution(of: pattern, by: rewrite)
    } catch { #expect(error.reason == words) }
  }

  /// The largest result: it is bounded by the text and the limit of the substitution.
  @Test func aLongTextIsReplaced() throws {
    let longest = String(repeating: "b", count: Substitution.lengthLimit)
    let substitution = try Substitution(of: Pattern("a"), by: longest)
    let text = [UInt8](repeating: UInt8(ascii: "a"), count: 1024)
    #expect(substitution.applied(to: text.span) == [UInt8](repeating: UInt8(ascii: "b"), count: 1024 * 256))
  }

  /// Each of its matches may be looked for to the end of the text.
  @Test func aTextThatWouldTakeTooLongStays() throws {
    let pattern = try Pattern("a.*b|a")
    let substitution = try Substitution(of: pattern, by: "c")
    let text = [UInt8](repeating: UInt8(ascii: "a"), count: 512)
    #expect(substitution.applied(to: text.span) == [UInt8](repeating: UInt8(ascii: "c"), count: 512))
    let long = [UInt8](repeating: UInt8(ascii: "a"), count: 16_000)
    #expect(substitution.applied(to: long.span) == long)
  }
}
