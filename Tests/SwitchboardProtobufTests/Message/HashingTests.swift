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

  /// As docs/Messages.md says.
  @Test func notANumberEqualsItselfOnlyInCopies() throws {
    let message = Kinds.with { $0.oneDouble = .nan }
    let copy = message
    #expect(message == copy)
    #expect(try Kinds(serializedBytes: message.serializedBytes()) != message)
    #expect(try Kinds.with { $0.oneDouble = -0.0 }.serializedBytes() != Kinds().serializedBytes())
  }
}
