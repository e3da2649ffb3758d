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
}
