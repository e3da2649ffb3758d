import SwitchboardProtobuf
import TestMessages
import Testing

/// Messages that are encoded in several pieces of memory, by the size of their values.
@Suite struct SerializedBytesTests {
  /// Sizes around those at which memory is full, and at which values are not copied.
  static let sizes = [
    0, 1, 900, 950, 960, 1000, 1023, 1024, 1950, 1984, 2100, 4095, 4096, 4097, 70_000, 200_000,
  ]

  private func message(_ size: Int) -> Switchboard_Testing_AllKinds3 {
    var message = Switchboard_Testing_AllKinds3()
    message.oneInt32 = 7
    message.oneString = String(repeating: "s", count: size)
    message.oneBytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    message.recursive.manyString = ["short", message.oneString, "", "a string of more than fifteen bytes"]
    message.recursive.manyBytes = [message.oneBytes, [1, 2, 3]]
    message.recursive.packedInt32 = (0..<Int32(size / 8)).map { $0 &* 1001 }
    message.mapStringBytes = ["key": message.oneBytes, message.oneString: [5]]
    message.unknownFields.bytes = WireBytes.delimited(5000, message.oneBytes)
    return message
  }

  @Test(arguments: sizes)
  func arePiecesOfTheSameMessage(_ size: Int) throws {
    let message = message(size)
    let bytes = try message.serializedBytes(options: .inOrder)
    #expect(try Switchboard_Testing_AllKinds3(serializedBytes: bytes) == message)
    #expect(try message.serializedSize() == bytes.count)
    let (count, appended) = try message.withSerializedBytes(options: .inOrder) { serialized in
      let count = serialized.byteCount
      return (
        count,
        try [UInt8](capacity: count + 1) { output in
          output.append(0xFF)
          try serialized.append(to: &output)
        }
      )
    }
    #expect(count == bytes.count)
    #expect(appended == [0xFF] + bytes)
  }

  @Test(arguments: sizes)
  func needRoomForAll(_ size: Int) throws {
    let message = message(size)
    #expect(throws: EncodeError(.destinationTooSmall)) {
      try message.withSerializedBytes { serialized in
        try [UInt8](capacity: serialized.byteCount - 1) { try serialized.append(to: &$0) }
      }
    }
  }

  /// What is too large is refused, and the rest of the message, which is then written in vain, takes no memory.
  @Test func areNotLargerThanTheFormatAllows() {
    let bytes = [UInt8](repeating: 7, count: 1_000_000)
    let message = Switchboard_Testing_AllKinds3.with {
      $0.recursive.manyBytes = Array(repeating: bytes, count: 2200)
      $0.recursive.manyString = Array(repeating: "short", count: 100_000)
      $0.recursive.packedInt32 = Array(repeating: -1, count: 100_000)
      $0.manyString = Array(repeating: "a string of more than fifteen bytes", count: 100_000)
    }
    #expect(throws: EncodeError(.tooLarge)) { try message.serializedBytes() }
    #expect(throws: EncodeError(.tooLarge)) { try message.serializedSize() }
  }

  @Test(arguments: 0..<64)
  func haveNumbersOfAllSizes(_ shift: Int) throws {
    let numbers = [(1 as UInt64) << shift, 1 << shift - 1, .max >> shift]
    let message = Switchboard_Testing_AllKinds3.with { $0.packedUint64 = numbers }
    let expected = WireBytes.delimited(78, numbers.flatMap { WireBytes.varint($0) })
    #expect(try message.serializedBytes() == expected)
  }

  @Test(arguments: 0..<130)
  func haveStringsOfAllSizes(_ count: Int) throws {
    let text = String((0..<count).map { Character(UnicodeScalar(UInt8(32 + $0 % 90))) })
    let message = Switchboard_Testing_AllKinds3.with { $0.manyString = [text, text] }
    let field = WireBytes.delimited(44, Array(text.utf8))
    #expect(try message.serializedBytes() == field + field)
  }

  @Test func passOnTheErrorsOfTheCaller() {
    struct Failure: Error {}
    #expect(throws: Failure.self) { try message(5000).withSerializedBytes { _ in throw Failure() } }
  }

  @Test(.needsCosts) func areCopiedOnce() throws {
    let message = Switchboard_Testing_AllKinds3.with { $0.oneBytes = Array(repeating: 7, count: 1_000_000) }
    let (cost, bytes) = try Cost.of { try message.serializedBytes() }
    #expect(cost.copied < 1_010_000)
    #expect(cost.allocated < 1_010_000)
    #expect(bytes.count > 1_000_000)
  }
}

extension BinaryEncodingOptions {
  fileprivate static let inOrder: Self = {
    var options = BinaryEncodingOptions()
    options.deterministic = true
    return options
  }()
}

extension [UInt8] {
  /// What `fill` writes into memory of this size.
  fileprivate init(capacity: Int, _ fill: (inout OutputRawSpan) throws -> Void) throws {
    self = try withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { memory in
      var output = OutputRawSpan(buffer: memory, initializedCount: 0)
      try fill(&output)
      let count = output.finalize(for: memory)
      return [UInt8](memory.prefix(count))
    }
  }
}
