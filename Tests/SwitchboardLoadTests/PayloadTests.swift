import SwitchboardCall
import Testing

@testable import SwitchboardLoad

struct PayloadTests {
  private func text(_ template: String, call: UInt64 = 7) throws -> String {
    var numbers = SeededNumbers(seed: 1, call: call)
    return try PayloadTemplate(template).text(call: call, numbers: &numbers)
  }

  @Test func placeholdersAreReplaced() throws {
    #expect(try text(#"{"a":{"id":{{i}},"name":"n{{i}}"}}"#) == #"{"a":{"id":7,"name":"n7"}}"#)
    #expect(try text("{{ i }}") == "7")
    for call in 0..<200 {
      let number = try #require(Int(text("{{random -3 3}}", call: UInt64(call))))
      #expect((-3...3).contains(number))
    }
    let identifiers = try Set((0..<100).map { try text("{{uuid}}", call: $0) })
    #expect(identifiers.count == 100)
    for identifier in identifiers {
      #expect(
        identifier.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/)
          != nil
      )
    }
  }

  @Test func bracesOfJSONAreLeftAlone() throws {
    for json in [#"{"a":{"b":{}}}"#, "{}", #"{"a":{"b":"}}"}}"#, #"{{"a":1}}"#, "{{", "{ {i}"] {
      #expect(try text(json) == json)
      #expect(try PayloadTemplate(json).isConstant)
    }
    #expect(try !PayloadTemplate(#"{"id":"{{uuid}}"}"#).isConstant)
  }

  @Test func unknownPlaceholdersAreRefused() {
    for bad in [
      "{{index}}", "{{random}}", "{{random 5 1}}", "{{random 1 x}}", "{{uuid 1}}", "{{i}} {{I}}", "{{i}",
      "{{.RequestNumber}}",
    ] {
      #expect(throws: PayloadError.self, "\(bad)") { try PayloadTemplate(bad) }
    }
  }

  @Test func aFileHasPayloadsOneAfterTheOther() throws {
    let wanted = [#"{"a":"}{"}"#, #"{"b":{"c":[1,2]}}"#, "{}"]
    #expect(try PayloadFile.payloads(in: wanted.joined(separator: "\n")) == wanted)
    #expect(try PayloadFile.payloads(in: "[" + wanted.joined(separator: ", ") + "]\n") == wanted)
    #expect(try PayloadFile.payloads(in: #"{"id":{{i}}}"#) == [#"{"id":{{i}}}"#])
    #expect(try PayloadFile.payloads(in: "{]}{}") == ["{]}", "{}"])
    for bad in ["", "[]", "{", "}", "[{}", "{}]", "{} x", "[{}] {}", #""a""#, "[[{}]]", "{,]", "[{]"] {
      #expect(throws: PayloadError.self, "\(bad)") { try PayloadFile.payloads(in: bad) }
    }
  }

  @Test func constantPayloadsAreEncodedOnce() throws {
    let counted = Counted()
    let source = try PayloadSource(json: ["{}", #"{"i":{{i}}}"#], seed: 1) { text in
      counted.add()
      return Array(text.utf8)
    }
    #expect(counted.count == 2)
    for call in 0..<10 as Range<UInt64> {
      let payload = try source.payload(call: call).withBytes { bytes in
        String(
          decoding: (0..<bytes.byteCount).map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) },
          as: UTF8.self
        )
      }
      #expect(payload == (call % 2 == 0 ? "{}" : #"{"i":\#(call)}"#))
    }
    #expect(counted.count == 7)
  }

  @Test func payloadsThatCannotBeEncodedAreNamed() {
    let error = #expect(throws: PayloadError.self) {
      try PayloadSource(json: ["{}", "{{nothing}}"], seed: 1) { Array($0.utf8) }
    }
    #expect(error?.description.hasPrefix("payload 2: ") == true)
  }
}

private final class Counted: Sendable {
  private let value = Locked(0)
  var count: Int { value.withLock { $0 } }
  func add() { value.withLock { $0 += 1 } }
}
