import SwitchboardDescriptors
import TestMessages
import Testing

@testable import SwitchboardProtobuf

/// The storage of generated messages: values that share an object until one is changed.
@Suite struct MessageStorageTests {
  private func object(of message: some Message) -> ObjectIdentifier {
    ObjectIdentifier(message._storage.object)
  }

  @Test func aCopySharesTheObjectUntilOneIsChanged() {
    var first = Kinds.with {
      $0.text = "a string that is too long to be kept in two words"
      $0.child.i32 = 1
      $0.numbers = [1]
      $0.counts = ["a": 1]
      $0.third.i64 = 2
      $0.unknownFields.bytes = [0x98, 0x06, 1]
    }
    let second = first
    #expect(object(of: first) == object(of: second))
    first.text += "!"
    first.child.i32 = 2
    first.numbers.append(2)
    first.counts["a"] = 2
    first.third.i64 = 3
    first.unknownFields.bytes = []
    #expect(object(of: first) != object(of: second))
    #expect(second.text.hasSuffix("words") && second.child.i32 == 1 && second.numbers == [1])
    #expect(second.counts == ["a": 1] && second.third.i64 == 2 && second.unknownFields.bytes.count == 3)
    #expect(first.text.hasSuffix("words!") && first.child.i32 == 2 && first.numbers == [1, 2])
    #expect(first.counts == ["a": 2] && first.third.i64 == 3 && first.unknownFields.isEmpty)
  }

  @Test func anEnumOfAGeneratedMessageIsSetByItsNumber() throws {
    var message = Switchboard_Testing_Required2()
    let late = try #require(message._storage.table.index(of: 3))
    #expect(message._storage.set(late, to: .enumeration(-7)) == nil)
    #expect(message.late == .second && message._storage.value(late) == .enumeration(-7))
  }

  @Test func enumsOfAGeneratedMessageAreSetByTheirNumbers() throws {
    var message = AllKinds2()
    let many = try #require(message._storage.table.index(of: 48))
    let map = try #require(message._storage.table.index(of: 147))
    #expect(message._storage.set(many, to: .list([.enumeration(1), .enumeration(2)])) == nil)
    #expect(message._storage.set(map, to: .map([.string("a"): .enumeration(1)])) == nil)
    let before = message
    #expect(
      message.manyColor.map(\.rawValue) == [1, 2] && message.mapStringColor.mapValues(\.rawValue) == ["a": 1]
    )
    // The enum is closed.
    #expect(
      message._storage.set(many, to: .list([.enumeration(1), .enumeration(99)]))
        == "list with a number that the enum does not define"
    )
    #expect(
      message._storage.set(map, to: .map([.string("b"): .enumeration(99)]))
        == "map with a number that the enum does not define"
    )
    #expect(message == before)
  }

  @Test func aMessageThatNothingSharesIsChangedInPlace() throws {
    var message = Kinds.with {
      $0.child.child.i32 = 1
      $0.third.i32 = 1
      $0.children = [.with { $0.i32 = 1 }]
      $0.kids = [1: .with { $0.i32 = 1 }]
    }
    let outer = object(of: message)
    let inner = [message.child, message.child.child, message.third, message.children[0], message.kids[1]]
      .compactMap { $0.map(object(of:)) }
    message.i32 = 5
    message.child.child.i32 = 2
    message.third.i32 = 2
    message.children[0].i32 = 2
    message.kids[1]?.i32 = 2
    #expect(object(of: message) == outer)
    let after = [message.child, message.child.child, message.third, message.children[0], message.kids[1]]
      .compactMap { $0.map(object(of:)) }
    #expect(after == inner)
    #expect(message.child.child.i32 == 2 && message.children[0].i32 == 2 && message.kids[1]?.i32 == 2)
  }

  @Test func anArrayGrowsInPlace() {
    var message = Kinds()
    message.numbers.reserveCapacity(100)
    let before = message.numbers.withUnsafeBufferPointer { $0.baseAddress }
    for number in 0..<100 { message.numbers.append(Int32(number)) }
    #expect(message.numbers.withUnsafeBufferPointer { $0.baseAddress } == before)
  }

  @Test func readingSetsNothing() {
    let message = Kinds()
    #expect(message.child.child.child == Kinds() && message.third == Kinds() && message.texts.isEmpty)
    #expect(!message.hasChild && message.choice == nil && message == Kinds())
  }

  @Test func oneMemberReplacesAnotherOfAnyKind() {
    var message = Kinds()
    for _ in 0..<2 {
      message.second = "another string that is too long to be kept in two words"
      #expect(message.choice == .second(message.second) && message.first == 0)
      message.third.children = [Kinds()]
      #expect(message.choice == .third(message.third) && message.second.isEmpty)
      message.first = 7
      #expect(message.choice == .first(7) && message.third == Kinds())
      message.choice = nil
      #expect(message.choice == nil && message == Kinds())
    }
  }

  /// The generator computes offsets from its own schema, and the runtime from the text in the generated code.
  @Test func generatedTablesMatchTheirDescriptors() throws {
    let pool = try DescriptorPool(TestPool.files)
    for type in [Switchboard_Testing_AllKinds3.self, Switchboard_Testing_AllKinds2.self] as [any Message.Type]
    {
      let described = try #require(pool.messageType(named: type.protoMessageName)).data
      let generated = type._table
      let fields = described.entries.filter { !$0.isExtension }
      #expect(generated.entries.count == fields.count)
      for (ours, theirs) in zip(generated.entries, fields) {
        #expect(ours.number == theirs.number && ours.type == theirs.type && ours.shape == theirs.shape)
        #expect(ours.keyType == theirs.keyType)
        #expect(ours.shape != .repeated || ours.isPacked == theirs.isPacked)
        #expect(ours.isRequired == theirs.isRequired)
        let hasText = ours.type == .string || ours.shape == .map && ours.keyType == .string
        #expect(!hasText || ours.checksUTF8 == theirs.checksUTF8)
        #expect(ours.shape == .oneof || ours.presence == theirs.presence, "field \(ours.number)")
        #expect(generated.names.name(of: ours.number) == described.names.name(of: ours.number))
        #expect(generated.names.jsonName(of: ours.number) == described.names.jsonName(of: ours.number))
        #expect(generated.names.textName(of: ours.number) == described.names.textName(of: ours.number))
        guard ours.type.isMessage else { continue }
        #expect(generated.message(of: ours).fullName == described.message(of: theirs).fullName)
      }
    }
  }
}
