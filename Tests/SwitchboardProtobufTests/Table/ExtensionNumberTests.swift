import SwitchboardDescriptors
import SwitchboardProtobuf
import Testing

/// Extensions of a MessageSet may have numbers that no tag holds, because their numbers are not in tags.
@Suite struct ExtensionNumberTests {
  private static let numbers: [Int32] = [5, 1 << 29 - 1, 1 << 29, 1 << 29 + 5, 1 << 30 + 5, .max - 1]

  /// A MessageSet `Set` with an extension for each number, `[Item.x5]` and so on.
  private static func set() throws -> MessageTable {
    let pool = try TestPool.pool(syntax: "proto2") {
      var set = TestPool.message("Set", [])
      set.options.messageSetWireFormat = true
      set.extensionRange = [.with { ($0.start, $0.end) = (4, .max) }]
      $0.messageType = [set, TestPool.message("Item", [TestPool.field("number", 1, .int32)])]
      $0.extension = numbers.map { number in
        .with {
          $0 = TestPool.field("x\(number)", number, .message, typeName: ".Item")
          $0.extendee = ".Set"
        }
      }
    }
    return try #require(pool.messageType(named: "Set"))
  }

  private static func item(_ number: Int32) -> [UInt8] {
    let content = [0x08] + WireBytes.varint(UInt64(number))
    return [0x0B, 0x10] + WireBytes.varint(UInt64(number)) + WireBytes.delimited(3, content) + [0x0C]
  }

  @Test(arguments: numbers) func everyNumberIsReadAsItself(_ number: Int32) throws {
    let set = try Self.set()
    let message = try DynamicMessage(set, serializedBytes: Self.item(number))
    #expect(message.unknownFields.isEmpty)
    for other in Self.numbers { #expect(message.has("[x\(other)]") == (other == number), "\(other)") }
    guard case .message(let content)? = message[number] else {
      Issue.record("\(number) has no message")
      return
    }
    #expect(content["number"] == .int32(number))
    #expect(set.field(numbered: number)?.name == "[x\(number)]")
  }

  @Test func allAreWrittenInEveryFormat() throws {
    let set = try Self.set()
    let bytes = Self.numbers.flatMap(Self.item)
    let message = try DynamicMessage(set, serializedBytes: bytes)
    #expect(try message.serializedBytes() == bytes)
    #expect(try DynamicMessage(set, jsonString: message.jsonString()) == message)
    #expect(try DynamicMessage(set, textFormatString: message.textFormatString()) == message)
    var other = DynamicMessage(set)
    for field in set.fields { try other.set(field.name, to: try #require(message[field.number])) }
    #expect(other == message)
    for field in set.fields { try other.clear(field.name) }
    #expect(try other.serializedBytes().isEmpty)
  }

  @Test func aNumberThatNoExtensionHasIsNotAnotherWithTheSameLowBits() throws {
    // The low 29 bits are 5.
    for number in [1 << 29 + 1 << 30 + 5, Int32.min + 5] as [Int32] {
      let item = [0x0B, 0x10] + WireBytes.varint(UInt64(bitPattern: Int64(number))) + [0x1A, 0, 0x0C]
      let message = try DynamicMessage(Self.set(), serializedBytes: item)
      #expect(message.unknownFields.bytes == item)
    }
  }
}
