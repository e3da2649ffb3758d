import SwitchboardDescriptors
import SwitchboardProtobuf
import Testing

/// A descriptor may declare so many fields that an element of two bytes would take 160 KiB.
@Suite struct ObjectBudgetTests {
  /// A type `List` with repeated, single and mapped messages of type `Wide`, which has `count` fields.
  private static func list(fields count: Int32) throws -> MessageTable {
    let pool = try TestPool.pool(syntax: "proto2") {
      var entry = TestPool.message(
        "MapEntry",
        [TestPool.field("key", 1, .int32), TestPool.field("value", 2, .message, typeName: ".Wide")]
      )
      entry.options.mapEntry = true
      var list = TestPool.message(
        "List",
        [
          TestPool.field("many", 1, .message, typeName: ".Wide", label: .repeated),
          TestPool.field("groups", 2, .group, typeName: ".Wide", label: .repeated),
          TestPool.field("map", 3, .message, typeName: ".List.MapEntry", label: .repeated),
          TestPool.field("one", 4, .message, typeName: ".Wide"),
          TestPool.field("lists", 5, .message, typeName: ".List", label: .repeated),
        ]
      )
      list.nestedType = [entry]
      let fields = (1...count).map { TestPool.field("f\($0)", $0, .string) }
      $0.messageType = [list, TestPool.message("Wide", fields)]
    }
    return try #require(pool.messageType(named: "List"))
  }

  private static let element: [UInt8] = [0x0A, 0]
  private static let group: [UInt8] = [0x13, 0x14]
  private static let entry: [UInt8] = [0x1A, 0]
  private static let nested: [UInt8] = [0x2A, 2, 0x22, 0]

  @Test(arguments: [element, group, entry, nested])
  func manyElementsOfManyFieldsAreRefused(_ element: [UInt8]) throws {
    let list = try Self.list(fields: 3_000)
    func bytes(_ count: Int) -> [UInt8] { Array(repeatElement(element, count: count).joined()) }
    _ = try DynamicMessage(list, serializedBytes: bytes(100))
    let error = #expect(throws: DecodeError.self) { try DynamicMessage(list, serializedBytes: bytes(2_000)) }
    #expect(error?.reason.description.contains("too much memory") == true)
  }

  @Test(arguments: [("many", "{}"), ("lists", #"{"one": {}}"#)])
  func soTheyAreInJSONAndText(_ field: String, _ element: String) throws {
    let list = try Self.list(fields: 3_000)
    func elements(_ count: Int) -> String { repeatElement(element, count: count).joined(separator: ",") }
    _ = try DynamicMessage(list, jsonString: #"{"\#(field)": [\#(elements(100))]}"#)
    #expect(throws: DecodeError.self) {
      try DynamicMessage(list, jsonString: #"{"\#(field)": [\#(elements(2_000))]}"#)
    }
    func text(_ count: Int) -> String {
      "\(field): [\(elements(count).filter { $0 != "\"" && $0 != ":" })]"
    }
    _ = try DynamicMessage(list, textFormatString: text(100))
    #expect(throws: DecodeError.self) { try DynamicMessage(list, textFormatString: text(2_000)) }
    let map = String(repeating: "map {}", count: 2_000)
    #expect(throws: DecodeError.self) { try DynamicMessage(list, textFormatString: map) }
  }

  @Test func manyElementsOfFewFieldsAreRead() throws {
    let list = try Self.list(fields: 5)
    let bytes = Array(repeatElement(Self.element + Self.group, count: 200_000).joined())
    let message = try DynamicMessage(list, serializedBytes: bytes)
    guard case .list(let many)? = message["many"] else {
      Issue.record("no elements")
      return
    }
    #expect(many.count == 200_000)
  }

  @Test func messagesOfTheProgramAreMerged() throws {
    let list = try Self.list(fields: 3_000)
    let wide = try #require(list.field(named: "one").flatMap(list.message(of:)))
    var message = DynamicMessage(list)
    // All share one object.
    let one = DynamicValue.message(DynamicMessage(wide))
    try message.set("many", to: .list(Array(repeating: one, count: 1_500)))
    var copy = DynamicMessage(list)
    try copy.merge(message)
    #expect(copy == message)
  }
}
