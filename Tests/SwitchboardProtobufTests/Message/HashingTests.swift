import SwitchboardProtobuf
import TestMessages
import Testing

@Suite struct HashingTests {
  private typealias Kinds = Switchboard_Testing_AllKinds3

  /// One change for each method of a visitor.
  private static let changes: [@Sendable (inout Kinds) -> Void] = [
    { $0.oneInt32 = 1 },
    { $0.oneInt64 = 1 },
    { $0.oneString = "text" },
    { $0.oneBytes = [1] },
    { $0.oneDouble = 0.5 },
    { $0.oneColor = Kinds.Color(rawValue: 1) ?? Kinds.Color() },
    { $0.oneNested = Kinds.Nested() },
    { $0.recursive.oneInt32 = 1 },
    { $0.manyInt32 = [1] },
    { $0.packedInt32 = [1] },
    { $0.manyString = ["text"] },
    { $0.manyNested = [Kinds.Nested()] },
    { $0.unknownFields.bytes = [0xF8, 0x7F, 0x01] },
  ]

  @Test func equalMessagesHaveEqualHashes() {
    for change in HashingTests.changes {
      var one = Kinds()
      var other = Kinds()
      change(&one)
      change(&other)
      #expect(one == other)
      #expect(one.hashValue == other.hashValue)
    }
  }

  @Test func everyFieldCounts() {
    let messages = HashingTests.changes.map { change in Kinds.with { change(&$0) } }
    #expect(Set(messages + [Kinds()]).count == messages.count + 1)
    #expect(Set((messages + [Kinds()]).map(\.hashValue)).count == messages.count + 1)
  }

  @Test func bothZerosHaveTheSameHash() {
    let negative = Kinds.with { $0.oneDouble = -0.0 }
    #expect(negative == Kinds())
    #expect(negative.hashValue == Kinds().hashValue)
  }

  /// Strings are compared by their bytes, as other implementations do.
  @Test func equivalentStringsDiffer() throws {
    let texts = ["\u{E9}", "e\u{301}"]
    let changes: [@Sendable (inout Kinds, String) -> Void] = [
      { $0.oneString = $1 }, { $0.manyString = [$1] }, { $0.mapStringString = [$1: ""] },
      { $0.mapStringString = ["": $1] }, { $0.mapStringNested = [$1: .init()] }, { $0.choiceString = $1 },
      { $0.oneStruct.fields = [$1: 1] },
      { message, text in message.recursive = .with { $0.oneString = text } },
    ]
    for change in changes {
      let messages = texts.map { text in Kinds.with { change(&$0, text) } }
      #expect(messages[0] != messages[1])
      #expect(messages[0].hashValue != messages[1].hashValue)
      let dynamic = try messages.map {
        try DynamicMessage(TestPool.type(of: Kinds.self), serializedBytes: $0.serializedBytes())
      }
      #expect(dynamic[0] != dynamic[1])
    }
    #expect(DynamicValue.string(texts[0]) != .string(texts[1]))
    #expect(Set(texts.map(DynamicValue.string)).count == 2)
  }

  @Test func entriesHaveNoOrder() {
    let keys = (0..<50).map { "key \($0)" }
    let one = Kinds.with { for key in keys { $0.mapStringString[key] = "value of \(key)" } }
    let other = Kinds.with { for key in keys.reversed() { $0.mapStringString[key] = "value of \(key)" } }
    #expect(one == other)
    #expect(one.hashValue == other.hashValue)
    var swapped = one
    swapped.mapStringString["key 1"] = "value of key 2"
    swapped.mapStringString["key 2"] = "value of key 1"
    #expect(swapped != one)
    #expect(swapped.hashValue != one.hashValue)
  }

  /// As docs/guide/Messages.md says.
  @Test func notANumberEqualsItselfOnlyInCopies() throws {
    let message = Kinds.with { $0.oneDouble = .nan }
    let copy = message
    #expect(message == copy)
    #expect(try Kinds(serializedBytes: message.serializedBytes()) != message)
    #expect(try Kinds.with { $0.oneDouble = -0.0 }.serializedBytes() != Kinds().serializedBytes())
  }
}
