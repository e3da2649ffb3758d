import SwitchboardText
import Testing

@Suite struct ExcerptTests {
  @Test func shortTextsAreWhole() {
    for text in ["", "a", String(repeating: "é", count: 100)] { #expect(text.excerpt == text) }
  }

  @Test func whatControlsATerminalIsEscaped() {
    #expect("a\u{1B}[2J\n\u{202E}b".excerpt == "a\\u{1B}[2J\\n\\u{202E}b")
    // Cut like others, though escapes are longer.
    let hostile = String(repeating: "\u{1B}", count: 1_000_000).excerpt
    #expect(hostile.unicodeScalars.count == 101 && hostile.hasPrefix("\\u{1B}\\u{1B}"))
  }

  @Test func longTextsAreCut() {
    #expect(String(repeating: "é", count: 101).excerpt == String(repeating: "é", count: 100) + "…")
    // One character of a million marks.
    let marks = "a" + String(repeating: "\u{301}", count: 1_000_000)
    #expect(marks.excerpt.unicodeScalars.count == 101)
  }

  @Test(arguments: ["a", "é", "😀"]) func bytesAreCutAsTextIs(_ letter: String) {
    for count in [0, 1, 99, 100, 101, 1000] {
      let text = String(repeating: letter, count: count)
      #expect(Array(text.utf8).excerpt() == text.excerpt)
      #expect(text.utf8.excerpt(7) == text.excerpt(7))
    }
    #expect([0xFF, 0x61].excerpt() == "\u{FFFD}a")
  }
}
