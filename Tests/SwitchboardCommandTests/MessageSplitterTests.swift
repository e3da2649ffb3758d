import Testing

@testable import SwitchboardCommand

@Suite struct MessageSplitterTests {
  /// The messages of a text, whichever way it is cut into pieces.
  private func split(_ text: String, _ format: CallVerb.Format, by size: Int = 1000) throws
    -> [MessageSplitter.Piece]
  {
    var splitter = MessageSplitter(format)
    var pieces: [MessageSplitter.Piece] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      pieces += try splitter.feed(Array(bytes[start..<min(start + size, bytes.count)]))
    }
    return pieces + (splitter.finish().map { [$0] } ?? [])
  }

  private func texts(_ text: String, _ format: CallVerb.Format) throws -> [String] {
    let whole = try split(text, format)
    // However the bytes arrive, the messages and their places are the same.
    for size in 1...3 { #expect(try split(text, format, by: size) == whole) }
    return whole.map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  @Test func findsTheEndOfEachValue() throws {
    #expect(try texts(#"{"a": 1}{"b": "}"}"#, .json) == [#"{"a": 1}"#, #"{"b": "}"}"#])
    #expect(
      try texts("  {\n\"a\": {\"\\\"{\": []}\n}\n\n[1, [2]] ", .json) == [
        "{\n\"a\": {\"\\\"{\": []}\n}", "[1, [2]]",
      ]
    )
    #expect(try texts("\"a b\" 1.5 true\nnull{}", .json) == ["\"a b\"", "1.5", "true", "null", "{}"])
    #expect(try texts(" \n\t ", .json) == [])
    #expect(try texts("", .json) == [])
    #expect(try texts("{\"a\": ", .json) == ["{\"a\": "])
    #expect(try texts("}", .json) == ["}"])
  }

  @Test func returnsValuesAsSoonAsTheyEnd() throws {
    var splitter = MessageSplitter(.json)
    #expect(try splitter.feed(Array("{\"a\"".utf8)) == [])
    #expect(try splitter.feed(Array(": 1}".utf8)).count == 1)
    var text = MessageSplitter(.text)
    #expect(try text.feed(Array("a: 1\n--".utf8)) == [])
    #expect(try text.feed(Array("-\n".utf8)).map { String(decoding: $0.bytes, as: UTF8.self) } == ["a: 1\n"])
  }

  @Test func recordsWhereEachValueBegan() throws {
    let pieces = try split("{}\n\n  {\n}{}", .json)
    #expect(pieces.map(\.line) == [1, 3, 4])
    #expect(pieces.map(\.column) == [1, 3, 2])
    #expect(try split("a: 1\n---\nb: 2", .text).map(\.line) == [1, 3])
  }

  @Test func separatesTexts() throws {
    #expect(try texts("a: 1\n---\nb: 2\n", .text) == ["a: 1\n", "b: 2\n"])
    #expect(try texts("a: \"---\"\n---\r\n\u{1E}c: 3", .text) == ["a: \"---\"\n", "", "c: 3"])
  }

  @Test func takesTimeInProportionToItsInput() throws {
    // A million small values in one piece: moving the rest for each would take minutes.
    let pieces = try split(String(repeating: "{}\n", count: 1_000_000), .json, by: 3_000_000)
    #expect(pieces.count == 1_000_000)
    #expect(pieces.last?.line == 1_000_000)
  }
}
