import Switchboard
import Testing

@testable import SwitchboardREST

/// Queries and streams of JSON.
@Suite struct TextTests {
  @Test func readsQueries() {
    let query = QueryText(Array("a=1&b&=x&c=&a=2%263&&d=x=y&e%2Ef=g".utf8)[...])
    let pairs = IteratorSequence(query).map { pair in
      String(decoding: pair.name, as: UTF8.self)
        + (pair.value.map { ":" + String(decoding: $0, as: UTF8.self) } ?? "")
    }
    #expect(pairs == ["a:1", "b", ":x", "c:", "a:2&3", "d:x=y", "e.f:g"])
  }

  private func values(_ text: String, pieces: Int, limit: Int = 100) throws -> [String] {
    var found: [String] = []
    var values = JSONValues(limit: limit)
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let (value, count) = try values.next(in: rest.prefix(pieces))
      rest = rest.dropFirst(count)
      if let value { found.append(String(decoding: value, as: UTF8.self)) }
    }
    if let value = try values.end() { found.append(String(decoding: value, as: UTF8.self)) }
    return found
  }

  @Test(arguments: [1, 2, 3, 1000]) func cutsStreamsOfJSON(pieces: Int) throws {
    let objects = ["{\"a\":\"}\\\"\"}", "[1,[2]]", "{}"]
    #expect(
      try values("{\"a\":\"}\\\"\"}\n 1 \"x\"{}\n2", pieces: pieces) == [objects[0], "1", "\"x\"", "{}", "2"]
    )
    #expect(try values(" [" + objects.joined(separator: " , ") + "] ", pieces: pieces) == objects)
    #expect(try values("[1,2,\"]\"]", pieces: pieces) == ["1", "2", "\"]\""])
    for other in ["\u{B}", "\u{C}", "\u{A0}"] {
      // It is no white space in JSON, so the value is broken, and not two.
      #expect(try values("[1,\(other)2]", pieces: pieces) == ["1", "\(other)2"])
    }
    #expect(try values("", pieces: pieces) == [])
    #expect(try values("[]", pieces: pieces) == [])
    #expect(try values("[ ]", pieces: pieces) == [])
    #expect(try values("[1 , [2,3] ]", pieces: pieces) == ["1", "[2,3]"])
    for broken in [
      "{", "[", "[1", "\"x", "[1]2", "{\"a\":[}", "[1,]", "[{},]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[{}{}]",
      "[\"x\"1]", "[1,",
    ] {
      #expect(throws: GRPCStatus.self, "\(broken)") { try values(broken, pieces: pieces) }
    }
  }

  @Test func limitsValues() throws {
    #expect(try values("{\"a\":\"bcd\"}", pieces: 3, limit: 11) == ["{\"a\":\"bcd\"}"])
    let error = #expect(throws: GRPCStatus.self) { try values("{\"a\":\"bcd\"}", pieces: 3, limit: 10) }
    #expect(error?.code == .resourceExhausted)
  }
}
