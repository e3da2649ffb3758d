import SwitchboardText
import TestSupport
import Testing

@Suite struct ExactTextTests {
  /// The same text for people, in other bytes.
  let equivalents = [("é", "e\u{301}"), ("K", "\u{212A}"), ("각", "\u{1100}\u{1161}\u{11A8}")]

  @Test func equivalentTextsAreNotTheSame() {
    for (left, right) in equivalents {
      #expect(left == right)
      #expect(!left.isExactly(right))
      #expect(!left[...].isExactly(right))
      #expect(ExactText(left) != ExactText(right))
      #expect(Set([ExactText(left), ExactText(right)]).count == 2)
    }
  }

  @Test(arguments: [0, 1, 7, 8, 9, 15, 16, 17, 64, 65])
  func textsAreTheSameIfAllBytesAre(count: Int) {
    let text = String(repeating: "x", count: count)
    let copy = (0..<count).map { _ in "x" }.joined()
    #expect(text.isExactly(copy))
    #expect(ExactText(text).hashValue == ExactText(copy).hashValue)
    #expect(!text.isExactly(text + "x"))
    for place in 0..<count {
      var bytes = Array(text.utf8)
      bytes[place] = UInt8(ascii: "y")
      #expect(!text.isExactly(String(decoding: bytes, as: UTF8.self)), "byte \(place)")
    }
  }

  @Test func namesAreFoundByTheirBytes() {
    var numbers: [ExactText: Int] = [:]
    numbers["é"] = 1
    #expect(numbers["é"] == 1)
    #expect(numbers["e\u{301}"] == nil)
    var names: Set<ExactText> = []
    let inserted = ["é", "é", "e\u{301}"].map { names.insert($0) }
    #expect(inserted == [true, false, true])
    #expect(names.contains("é"))
    #expect(!names.contains("e"))
  }

  /// A mark joins the character before it, so that `split`, `hasPrefix` and `lastIndex` do not see that character.
  @Test func charactersAreFoundBeforeMarks() {
    let text = "a/\u{301}b/c"
    #expect(text.split(separator: "/").count == 2)
    #expect(text.parts(separatedBy: "/") == ["a", "\u{301}b", "c"])
    #expect("a//b/".parts(separatedBy: "/") == ["a", "", "b", ""])
    #expect("a//b/".parts(separatedBy: "/", omittingEmpty: true) == ["a", "b"])
    #expect("a.b.c"[...].parts(separatedBy: ".", maxSplits: 1) == ["a", "b.c"])
    #expect("a/\u{301}b".part(afterLast: "/") == "\u{301}b")
    #expect("a/"[...].part(afterLast: "/") == "")
    #expect("a".part(afterLast: "/") == nil)
    #expect("[\u{301}".begins(with: "["))
    #expect(!"[\u{301}".hasPrefix("["))
    #expect("a]"[...].ends(with: "]"))
    #expect(!"a]\u{301}".ends(with: "]"))
    #expect(!"".begins(with: "a") && "".begins(with: "") && "ab".ends(with: "ab") && !"b".ends(with: "ab"))
  }

  /// The last three are in class 0 themselves, but decompose to marks.
  @Test(arguments: ["\u{301}", "\u{316}", "\u{1D165}", "\u{F73}", "\u{F75}", "\u{F81}"])
  func runsOfMarksAreCounted(mark: String) {
    let most = String(repeating: mark, count: String.longestRunOfMarks)
    #expect(!most.hasLongRunOfMarks)
    #expect((most + mark).hasLongRunOfMarks)
    #expect((String(repeating: "a", count: 1000) + most + mark + "b").hasLongRunOfMarks)
    #expect(!((0..<100).map { _ in "a" + most }.joined()).hasLongRunOfMarks)
  }

  /// The check that other tests rely on notices what the standard library does with marks.
  @Test func hashingAsSwiftDoesIsFoundToBeQuadratic() {
    withKnownIssue {
      Growth.check("hashing a string", WorstText.descendingMarks.text) { _ = $0.hashValue }
    }
    Growth.check("hashing bytes", WorstText.descendingMarks.text) { _ = ExactText($0).hashValue }
  }

  @Test(arguments: ["a", "é", "각", "\u{1100}\u{1161}\u{11A8}", "🇩🇪", "👨‍👩‍👧‍👦", "\u{200D}", "क्षि", "ก็"])
  func otherTextHasNoRunsOfMarks(text: String) {
    #expect(!String(repeating: text, count: 10_000).hasLongRunOfMarks)
  }
}
