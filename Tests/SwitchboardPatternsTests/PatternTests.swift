import SwitchboardPatterns
import TestSupport
import Testing

@Suite struct PatternTests {
  private func matches(_ pattern: String, _ text: String) throws -> Bool {
    try matches(pattern, Array(text.utf8))
  }

  private func matches(_ pattern: String, _ text: [UInt8]) throws -> Bool {
    try Pattern(pattern).matches(text.span)
  }

  private func reason(_ pattern: String) -> PatternError? {
    do throws(PatternError) {
      _ = try Pattern(pattern)
      return nil
    } catch { return error }
  }

  @Test func allOfATextMatches() throws {
    #expect(try matches("/echo[.]Echo/.*", "/echo.Echo/Get"))
    #expect(try !matches("echo", "/echo") && !matches("/echo", "/echo.Echo/Get"))
    // The first branch that fits a part does not keep a later one from fitting all.
    #expect(try matches("a|ab|abc", "abc") && matches("(a|ab)(c|bcd)", "abcd"))
    #expect(try matches("", "") && !matches("", "a") && matches("^a$", "a") && !matches("a$", "a\n"))
    #expect(try matches("(?i)abc", "aBC") && !matches("abc", "aBC"))
  }

  @Test func whatIsNotUTF8IsNoCharacter() throws {
    #expect(try matches("[à-ï]", "é") && matches(".", "é") && !matches("..", "é"))
    for broken: [UInt8] in [[0xff], [0xc3], [0x80], [0xc3, 0x61], [0xf8, 0x80, 0x80, 0x80]] {
      #expect(try !matches("(?s).*", broken))
      #expect(try matches("\\C*", broken))
      #expect(try !matches("(?s)a.*", [UInt8(ascii: "a")] + broken))
    }
    // A zero is a character like others.
    #expect(
      try matches("a.b", [0x61, 0, 0x62]) && matches("a\\x00b", [0x61, 0, 0x62]) && !matches("a", [0x61, 0])
    )
  }

  @Test(arguments: [
    ("(abc", "missing ): (abc"), ("a)", "unexpected ): a)"), ("[a", "missing ]: [a"),
    ("a**", "bad repetition operator: **"),
    ("*", "no argument for repetition operator: *"), ("\\1", "invalid escape sequence: \\1"),
    ("(?=a)", "invalid perl operator: (?="), ("a{1001}", "invalid repetition size: {1001}"),
    // Each of these is small, and would be large.
    ("((a{100}){100}){100}", "invalid repetition size: {100}"),
    ("\\pL{100}", "pattern too large - compile failed"),
  ])
  func whatIsNoPatternIsRefusedInTheWordsOfRE2(_ pattern: String, _ words: String) {
    #expect(reason(pattern)?.reason == words)
    #expect(reason(pattern)?.isTooLarge == words.contains("too large"))
  }

  @Test func aPatternHasABound() throws {
    let longest = String(repeating: "a", count: Pattern.lengthLimit)
    #expect(reason(longest) == nil)
    #expect(reason(longest + "a")?.reason == "has more than 4096 bytes")
    // As deep as the text allows.
    let deep = String(repeating: "(", count: 2000) + "a" + String(repeating: ")", count: 2000)
    #expect(try matches(deep, "a") && !matches(deep, "b"))
    #expect(try Pattern("a").size < Pattern("a{50}").size)
  }

  /// Those on which matchers that try every way do not end.
  @Test(
    .timeLimit(.minutes(1)),
    arguments: ["(a*)*b", "(a+a+)+b", "(a|aa)+b", "(a?){30}a*b", "(?:.*a){20}b"]
  )
  func aTextTakesTimeInProportionToItsLength(_ pattern: String) throws {
    // Its last byte is the one that matters.
    let text = String(repeating: "a", count: try Pattern(pattern).longestText - 1)
    #expect(text.utf8.count > 1000)
    #expect(try !matches(pattern, text))
    #expect(try matches(pattern, text + "b"))
  }

  /// A program whose steps are all at work at each byte takes its size for each.
  @Test func aTextThatWouldTakeTooLongDoesNotMatch() throws {
    let text = "[ab]*a[ab]{500}"
    let pattern = try Pattern(text)
    #expect(pattern.longestText == Pattern.workLimit / pattern.size)
    #expect((1000..<4000).contains(pattern.longestText))
    let longest = String(repeating: "a", count: pattern.longestText)
    #expect(try matches(text, longest) && !matches(text, "a\(longest)"))
    // What routes usually have may be longer than any header.
    #expect(try Pattern("/echo\\.[A-Z][a-z]+/.*").longestText > 16_384)
  }

  /// What a matcher keeps while it matches is bounded: a text that needs more than that is matched too.
  @Test func aTextThatNeedsMoreMemoryThanThereIsMatches() throws {
    var dice = Dice(seed: 3)
    let pattern = try Pattern("[ab]*a[ab]{12}")
    for _ in 0..<20 {
      let text = (0..<2000).map { _ in UInt8(ascii: dice.below(2) == 0 ? "a" : "b") }
      #expect(pattern.matches(text.span) == (text[text.count - 13] == UInt8(ascii: "a")))
    }
  }

  @Test func manyThreadsMatchWithOnePattern() async throws {
    let pattern = try Pattern("([a-m]+[0-9]*)+")
    await withTaskGroup(of: Int.self) { group in
      for seed in 0..<8 {
        group.addTask {
          var dice = Dice(seed: UInt64(seed))
          return (0..<500).count { _ in
            let text = (0..<dice.below(40)).map { _ in UInt8(ascii: dice.below(2) == 0 ? "c" : "z") }
            return pattern.matches(text.span) != (!text.isEmpty && !text.contains(UInt8(ascii: "z")))
          }
        }
      }
      for await failures in group { #expect(failures == 0) }
    }
  }

  @Test func equalPatternsHaveTheSameBytes() throws {
    #expect(try Pattern("a|b") == Pattern("a|b") && Pattern("a|b") != Pattern("b|a"))
    // Two ways to write é.
    #expect(try Pattern("\u{e9}") != Pattern("e\u{301}"))
    #expect(try Set([Pattern("a"), Pattern("a"), Pattern("b")]).count == 2)
    #expect(try Pattern("a|b").text == "a|b")
  }
}
