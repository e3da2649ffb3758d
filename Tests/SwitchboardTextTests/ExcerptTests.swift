import Testing

@testable import SwitchboardText

@Suite struct ExcerptTests {
  @Test func shortTextsAreWhole() {
    for text in ["", "a", String(repeating: "é", count: 100)] { #expect(text.excerpt == text) }
  }

  @Test func longTextsAreCut() {
    #expect(String(repeating: "é", count: 101).excerpt == String(repeating: "é", count: 100) + "…")
    // One character of a million marks.
    let marks = "a" + String(repeating: "\u{301}", count: 1_000_000)
    #expect(marks.excerpt.unicodeScalars.count == 101)
  }
}
