import SwitchboardProtobuf
import TestMessages
import Testing

/// Items of a MessageSet whose parts have an order or number that no encoder writes.
@Suite struct MessageSetTests {
  private typealias Kinds = Switchboard_Testing_AllKinds2
  private static let set = Kinds.SetExtension1.Extensions.message_set_extension
  private static let other = Kinds.SetExtension2.Extensions.message_set_extension

  private static let id = varintField(2, UInt64(set.number))
  private static let otherID = varintField(2, UInt64(other.number))
  private static let first = bytesField(3, encoded("first"))
  private static let second = bytesField(3, encoded("second"))

  @Test(arguments: [
    id + first,
    first + id,
    id + first + otherID,  // a second type is skipped
    id + first + second,  // and so is a second message
    first + id + second,
    first + second + id,
  ])
  func takesTheFirstTypeAndTheFirstMessage(item: [UInt8]) throws {
    let bytes = [0x0B] + item + [0x0C]
    let message = try Kinds.Set(serializedBytes: bytes, extensions: TestProtos.extensions)
    #expect(message[Self.set]?.text == "first")
    #expect(message.unknownFields.isEmpty)
  }

  @Test func keepsAnItemOfAnUnknownTypeAsItIs() throws {
    // A message with field number zero would be invalid, but it is not parsed.
    let item = [0x0B] + varintField(2, 99_999) + bytesField(3, [0x00, 0x01]) + [0x0C]
    let message = try Kinds.Set(serializedBytes: item, extensions: TestProtos.extensions)
    #expect(try message.serializedBytes() == item)
  }

  // A compiler refuses these extensions, but a program can make them.
  private static let wrongFields: [any AnyMessageExtension] = [
    MessageExtension<Kinds.Set, ScalarExtension<ProtoInt32>>(number: 5, fullName: "test.wrong"),
    MessageExtension<Kinds.Set, ScalarExtension<ProtoFixed64>>(number: 5, fullName: "test.wrong"),
    MessageExtension<Kinds.Set, ScalarExtension<ProtoString>>(number: 5, fullName: "test.wrong"),
    MessageExtension<Kinds.Set, RepeatedExtension<ProtoInt32>>(number: 5, fullName: "test.wrong"),
    MessageExtension<Kinds.Set, PackedExtension<ProtoInt32>>(number: 5, fullName: "test.wrong"),
    MessageExtension<Kinds.Set, GroupExtension<Kinds.SetExtension1>>(number: 5, fullName: "test.wrong"),
    MessageExtension<Kinds.Set, RepeatedGroupExtension<Kinds.SetExtension1>>(
      number: 5,
      fullName: "test.wrong"
    ),
    MessageExtension<Kinds.Set, RepeatedSubmessageExtension<Kinds.SetExtension1>>(
      number: 5,
      fullName: "test.wrong"
    ),
  ]

  @Test(arguments: wrongFields.indices)
  func doesNotHoldExtensionsThatAreNotSingleMessages(_ index: Int) throws {
    let extensions = ExtensionRegistry([Self.wrongFields[index]])
    let item: [UInt8] = [0x0B, 0x10, 5, 0x1A, 1, 7, 0x0C]
    for bytes in [item, varintField(5, 7), bytesField(5, [7]), [0x2B, 0x2C]] {
      let message = try Kinds.Set(serializedBytes: bytes, extensions: extensions)
      #expect(message.extensionFields.isEmpty)
      #expect(try message.serializedBytes() == bytes)
    }
    #expect(throws: DecodeError.self) {
      try Kinds.Set(jsonString: #"{"[test.wrong]": 7}"#, extensions: extensions)
    }
    for text in ["[test.wrong]: 7", "[test] {}"] {
      #expect(throws: DecodeError.self) { try Kinds.Set(textFormatString: text, extensions: extensions) }
    }
  }

  @Test func errorsNameTheExtension() throws {
    let item = [0x0B] + Self.id + bytesField(3, bytesField(25, [0xFF]).dropLast()) + [0x0C]
    let error = #expect(throws: DecodeError.self) {
      try Kinds.Set(serializedBytes: item, extensions: TestProtos.extensions)
    }
    #expect(error?.path == ["Set", "\(Self.set.number)", "text"])
  }

  private static func encoded(_ text: String) -> [UInt8] { bytesField(25, Array(text.utf8)) }
}

private func varint(_ value: UInt64) -> [UInt8] {
  value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
}

private func varintField(_ number: UInt64, _ value: UInt64) -> [UInt8] { varint(number << 3) + varint(value) }

private func bytesField(_ number: UInt64, _ value: [UInt8]) -> [UInt8] {
  varint(number << 3 | 2) + varint(UInt64(value.count)) + value
}
