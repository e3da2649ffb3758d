import SwitchboardDescriptors
import SwitchboardProtobuf
import TestMessages
import Testing

/// The beginning of a message in JSON and in text, whose names are much longer than what stands for them.
@Suite struct MessageStartTests {
  private let type: MessageTable

  init() throws {
    let long = String(repeating: "x", count: 900)
    let file = Google_Protobuf_FileDescriptorProto.with {
      ($0.name, $0.syntax) = ("start.proto", "proto3")
      var entry = TestPool.message(
        "MapEntry",
        [TestPool.field("key", 1, .int32), TestPool.field("value", 2, .enum, typeName: ".E")]
      )
      entry.options.mapEntry = true
      var message = TestPool.message(
        "M",
        [
          TestPool.field("packed", 1, .enum, typeName: ".E", label: .repeated),
          TestPool.field("messages_\(long)", 2, .message, typeName: ".M", label: .repeated),
          TestPool.field("map", 3, .message, typeName: ".M.MapEntry", label: .repeated),
          TestPool.field("text", 4, .string), TestPool.field("bytes", 5, .bytes),
          TestPool.field("any", 6, .message, typeName: ".google.protobuf.Any"),
          TestPool.field("doubles", 7, .double, label: .repeated),
        ]
      )
      message.nestedType = [entry]
      $0.dependency = ["google/protobuf/any.proto"]
      $0.messageType = [message]
      $0.enumType = [
        .with {
          $0.name = "E"
          $0.value = [.with { $0.name = "V_\(long)" }]
        }
      ]
    }
    let any = TestPool.files.filter { $0.name == "google/protobuf/any.proto" }
    let pool = try DescriptorPool(any + [file])
    type = try #require(pool.messageType(named: "M"))
  }

  /// Messages of a few thousand bytes whose JSON and text are longer.
  private func messages() throws -> [DynamicMessage] {
    let count = 6000
    let values = [0x0A] + varint(count) + [UInt8](repeating: 0, count: count)
    let packed = try DynamicMessage(type, serializedBytes: values)
    let nested = try DynamicMessage(
      type,
      serializedBytes: Array(repeatElement([0x12, 0], count: count).joined())
    )
    var map: [UInt8] = []
    for key in 0..<count {
      map += [0x1A, 4, 0x08, UInt8(key & 0x7F | 0x80), UInt8(key >> 7 & 0x7F | 0x80), UInt8(key >> 14)]
    }
    let mapped = try DynamicMessage(type, serializedBytes: map)
    var any = DynamicMessage(type)
    let held = Google_Protobuf_Any.with {
      $0.typeURL = "type.googleapis.com/M"
      $0.value = values
    }
    let bytesOfAny: [UInt8] = try held.serializedBytes()
    try any.merge(serializedBytes: [0x32] + varint(bytesOfAny.count) + bytesOfAny)
    var text = DynamicMessage(type)
    try text.set("text", to: .string(String(repeating: "\u{1}", count: count)))
    var bytes = DynamicMessage(type)
    try bytes.set("bytes", to: .bytes([UInt8](repeating: 200, count: 20_000)))
    var doubles = DynamicMessage(type)
    try doubles.set(
      "doubles",
      to: .list((0..<5000).map { .double(1.2345678901234567e-200 * Double($0)) })
    )
    return [packed, nested, mapped, any, text, bytes, doubles]
  }

  private func varint(_ value: Int) -> [UInt8] {
    var (bytes, rest) = ([UInt8](), value)
    while rest > 0x7F {
      bytes.append(UInt8(rest & 0x7F | 0x80))
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  private var registry: TypeRegistry {
    var registry = TypeRegistry()
    registry.insert(type)
    return registry
  }

  @Test(arguments: [0, 1000, 1001, 1234, 5000, 16_000])
  func theBeginningOfJSONIsThatOfTheWhole(_ limit: Int) throws {
    var options = JSONEncodingOptions()
    options.deterministic = true
    options.typeRegistry = registry
    for message in try messages() {
      let whole = try message.jsonUTF8Bytes(options: options)
      let start = try message.jsonStart(limit, options: options)
      #expect(!start.isWhole && start.bytes.count <= max(limit, 1000))
      #expect(whole.starts(with: start.bytes))
      let all = try message.jsonStart(2 * whole.count, options: options)
      #expect(all.isWhole && all.bytes == whole)
    }
  }

  @Test(arguments: [0, 1, 1000, 5000])
  func theBeginningOfTextIsThatOfTheWhole(_ limit: Int) throws {
    var options = TextFormatEncodingOptions()
    options.typeRegistry = registry
    for message in try messages() {
      let whole = message.textFormatString(options: options)
      let start = message.textFormatStart(limit, options: options)
      #expect(start.utf8.count == limit && whole.utf8.starts(with: start.utf8))
      #expect(message.textFormatStart(whole.utf8.count, options: options) == whole)
    }
  }

  @Test func whatIsWrongIsSaidAsOfTheWhole() throws {
    let missing = Google_Protobuf_Any.with { $0.typeURL = "type.googleapis.com/nothing" }
    #expect(throws: EncodeError.self) { _ = try missing.jsonStart(1000) }
  }
}
