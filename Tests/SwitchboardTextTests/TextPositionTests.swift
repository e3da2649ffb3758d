import SwitchboardText
import Testing

struct TextPositionTests {
  @Test(arguments: [
    (0, 1, 1), (2, 1, 3), (3, 2, 1), (5, 2, 2), (6, 2, 3), (7, 3, 1), (100, 3, 1),
  ]) func linesAndColumnsAreThoseOfEditors(_ offset: Int, _ line: Int, _ column: Int) {
    // The second line begins with a letter of two bytes.
    let position = TextPosition(of: offset, in: Array("ab\nöx\n".utf8))
    #expect(position.line == line && position.column == column)
  }

  @Test func aLaterPositionIsTheSameAsFromTheBeginning() {
    let text = Array("ab\nöx\n\n€ y".utf8)
    let starts = text.indices.filter { text[$0] & 0xC0 != 0x80 } + [text.count]
    for earlier in starts {
      for later in starts where later >= earlier {
        #expect(
          TextPosition(of: earlier, in: text).moved(to: later, in: text) == TextPosition(of: later, in: text)
        )
      }
    }
  }
}
