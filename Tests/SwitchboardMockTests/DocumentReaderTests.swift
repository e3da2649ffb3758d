import Testing

@testable import SwitchboardMock

struct DocumentReaderTests {
  private func json(_ text: String) throws -> String { try DocumentReader.read(text).json }

  @Test(arguments: [
    ("", "null"), ("# nothing\n", "null"), ("---\na: 1\n", #"{"a":1}"#), ("a: 1", #"{"a":1}"#),
    ("a:\n  b: x\n  c: [1, two, {d: true}]\n", #"{"a":{"b":"x","c":[1,"two",{"d":true}]}}"#),
    ("- 1\n- - 2\n  - 3\n-\n  a: 4\n- b: 5\n  c: 6\n", #"[1,[2,3],{"a":4},{"b":5,"c":6}]"#),
    ("a:\n- 1\n- 2\nb: ~\n", #"{"a":[1,2],"b":null}"#),
    ("a: 'it''s'\nb: \"x\\n\\u00e9\"\n", #"{"a":"it's","b":"x\né"}"#),
    ("a: plain text # comment\nb: a#b\nc: http://x\n", #"{"a":"plain text","b":"a#b","c":"http://x"}"#),
    ("a: |\n  one\n    two\n\n  three\nb: |-\n  x\n", #"{"a":"one\n  two\n\nthree\n","b":"x"}"#),
    ("{\n  \"a\": [1, -2.5e3],\n  # why\n  \"b\": {}, 'c': []\n}\n", #"{"a":[1,-2.5e3],"b":{},"c":[]}"#),
    ("a: 007\nb: 1.\nc: 12345678901234567890\n", #"{"a":"007","b":"1.","c":12345678901234567890}"#),
    ("\"quoted key\": 1\n'b:': 2\r\n", #"{"quoted key":1,"b:":2}"#), ("\u{feff}a: 1\n", #"{"a":1}"#),
    ("a: \"\\ud83d\\ude00\"", "{\"a\":\"😀\"}"), ("just text", #""just text""#),
    ("a:\n\n\n  b: 1", #"{"a":{"b":1}}"#),
  ])
  func documentsAreRead(_ text: String, _ wanted: String) throws {
    #expect(try json(text) == wanted)
  }

  @Test(arguments: [
    "a: 1\na: 2\n", "{a: 1, a: 2}", "a: &x 1", "a: *x", "a: !t 1", "a: >\n  x", "\ta: 1",
    "a:\n  b: 1\n    c: 2",
    "a: [1, 2", "a: {b 1}", "a: \"x", "a: 'x", "a: \"\\q\"", "a: \"\\u12\"", "a: \"\\ud800\"", "a: 1\n- 2\n",
    "- 1\na: 2",
    "a: [1] x", "a: @x", "a: %x", "a: 1\n b: 2", "---\na: 1\n---\nb: 2", "a: \"x\" y",
  ])
  func invalidDocumentsAreRejected(_ text: String) {
    #expect(throws: RuleError.self, "\(text)") { try DocumentReader.read(text) }
  }

  @Test func errorsNameTheLine() {
    let error = #expect(throws: RuleError.self) { try DocumentReader.read("a: 1\nb:\n  - c: {d: 1, d: 2}\n") }
    #expect(error?.description == "line 3: 'd' occurs twice")
  }

  @Test func depthIsBounded() {
    for text in [
      String(repeating: "[", count: 100_000), String(repeating: "{a: ", count: 100_000),
      String(repeating: "- ", count: 100_000) + "1",
      (0..<1000).map { String(repeating: " ", count: $0) + "a:\n" }.joined(),
    ] {
      #expect(throws: RuleError.self) { try DocumentReader.read(text) }
    }
  }

  @Test func jsonOutputRoundTrips() throws {
    let value = try DocumentReader.read("a: \"\\u0001\\\"\\\\\"\nb: [null, true, {\"\": 'x y'}]\n")
    #expect(try DocumentReader.read(value.json) == value)
  }

  @Test func numbersFollowJSON() {
    for text in ["0", "-0", "1", "10", "1.5", "-1.25e+10", "0.0", "1E5", "1e-5", "9007199254740993"] {
      #expect(DocumentReader.isNumber(text), "\(text)")
    }
    for text in [
      "", "-", "007", "01", "1.", ".5", "+1", "1e", "1e+", "0x1", "1 ", " 1", "1.5.5", "-a", "1_0", "١",
      "--1",
      String(repeating: "1", count: 65),
    ] {
      #expect(!DocumentReader.isNumber(text), "\(text)")
    }
  }

  @Test func manyPlainValuesAreRead() throws {
    let count = 20_000
    let list = try DocumentReader.read(
      "[" + [String](repeating: "12", count: count).joined(separator: ",") + "]"
    )
    #expect(list == .list([DocumentValue](repeating: .number("12"), count: count)))
  }
}
