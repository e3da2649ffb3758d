import Foundation
import SwitchboardDescriptors
import SwitchboardProtobuf
import Testing

/// Descriptors that no compiler writes.
@Suite struct HostileDescriptorTests {
  private typealias FieldType = Google_Protobuf_FieldDescriptorProto.TypeEnum

  @Test(arguments: [-1, -2, .min, 0, 1] as [Int32])
  func extensionsCannotBelongToAOneof(index: Int32) {
    for type in [.int64, .string] as [FieldType] {
      #expect(throws: DescriptorError.self) {
        try TestPool.pool(syntax: "proto2") {
          $0.messageType = [extensible]
          $0.extension = [
            .with {
              $0 = TestPool.field("added", 100, type)
              $0.extendee = "Base"
              $0.oneofIndex = index
            }
          ]
        }
      }
    }
  }

  @Test(arguments: [1 << 29, .max - 1] as [Int32])
  func numbersFitTags(number: Int32) {
    let field = Google_Protobuf_FieldDescriptorProto.with {
      $0 = TestPool.field("far", number, .int64)
      $0.extendee = "Base"
    }
    #expect(throws: DescriptorError.self) {
      try TestPool.pool(syntax: "proto2") { ($0.messageType, $0.extension) = ([extensible], [field]) }
    }
    #expect(throws: DescriptorError.self) {
      try TestPool.pool(syntax: "proto2") {
        $0.messageType = [extensible, TestPool.message("Other", [field])]
      }
    }
  }

  private var extensible: Google_Protobuf_DescriptorProto {
    .with {
      $0.name = "Base"
      $0.field = [TestPool.field("a", 1, .int64)]
      $0.extensionRange = [.with { ($0.start, $0.end) = (100, .max) }]
    }
  }

  private static let longest = String(repeating: "a", count: 1000)

  @Test(arguments: ["", "a b", "1a", "a.b", "é", "a\u{301}", "a\u{1B}[2J", "a\n", longest + "a"])
  func namesAreIdentifiers(_ name: String) {
    let places: [(inout Google_Protobuf_FileDescriptorProto) -> Void] = [
      { $0.messageType[0].name = name },
      { $0.messageType[0].field = [TestPool.field(name, 1, .bool)] },
      { $0.messageType[0].oneofDecl = [.with { $0.name = name }] },
      { $0.messageType[0].nestedType = [TestPool.message(name, [])] },
      { $0.messageType[0].extension = [Self.extending(name)] },
      { $0.extension = [Self.extending(name)] },
      { $0.enumType = [Self.enumeration(name, "ZERO")] },
      { $0.enumType = [Self.enumeration("E", name)] },
      { $0.service = [.with { $0.name = name }] },
      { $0.service = [Self.service(name)] },
    ]
    for (index, place) in places.enumerated() {
      let error = #expect(throws: DescriptorError.self, "\(index)") {
        try TestPool.pool(syntax: "proto2") {
          $0.messageType = [extensible]
          place(&$0)
        }
      }
      #expect(error?.text.utf8.allSatisfy { 0x20..<0x7F ~= $0 } == true)
    }
  }

  @Test(arguments: [".", "a.", ".a", "a..b", "a b", "1", "é", longest + "a"])
  func packagesAreFullNames(_ package: String) {
    #expect(throws: DescriptorError.self) { try TestPool.pool { $0.package = package } }
  }

  @Test(arguments: ["a\n", "a\u{1B}[2J", longest + "a"])
  func filesHaveNamesThatCanBeShown(_ name: String) {
    #expect(throws: DescriptorError.self) { try TestPool.pool { $0.name = name } }
  }

  /// A full name contains all names around it: its length is that of the longest.
  @Test func fullNamesAreLimited() throws {
    let half = String(repeating: "b", count: 499)
    func pool(_ name: String) throws -> DescriptorPool {
      try TestPool.pool(syntax: "proto2") {
        $0.package = half
        $0.messageType = [TestPool.message(String(half.dropLast()), [TestPool.field(name, 1, .bool)])]
      }
    }
    #expect(try pool("f").messageTypes.count == 1)
    #expect(throws: DescriptorError.self) { try pool("ff") }
  }

  /// As many declarations as fit into a few megabytes, each with a full name of nearly the greatest length.
  @Test func declarationsAreLimited() {
    let error = #expect(throws: DescriptorError.self) {
      try TestPool.pool {
        $0.package = String(Self.longest.dropLast(20))
        $0.service = [
          .with {
            $0.name = "S"
            $0.method = (0..<230_000).map { number in .with { $0.name = "m\(number)" } }
          }
        ]
      }
    }
    #expect(error?.text == "the files declare too much")
  }

  @Test func noScopeDeclaresANameTwice() {
    let places: [(inout Google_Protobuf_FileDescriptorProto) -> Void] = [
      { $0.messageType[0].oneofDecl = [.with { $0.name = "a" }] },
      { $0.messageType[0].nestedType = [TestPool.message("a", [])] },
      { $0.messageType[0].enumType = [Self.enumeration("E", "a")] },
      { $0.messageType[0].extension = [Self.extending("a")] },
      { $0.enumType = [Self.enumeration("E", "Base")] },
      { $0.enumType = [Self.enumeration("E", "V"), Self.enumeration("F", "V")] },
      { $0.service = [.with { $0.name = "Base" }] },
      { $0.service = [Self.service("M", "M")] },
    ]
    for (index, place) in places.enumerated() {
      let error = #expect(throws: DescriptorError.self, "\(index)") {
        try TestPool.pool(syntax: "proto2") {
          $0.messageType = [extensible]
          place(&$0)
        }
      }
      #expect(error?.text.hasSuffix(" is declared twice") == true, "\(index)")
    }
  }

  @Test func fieldsHaveNoJSONNamesOfExtensions() {
    #expect(throws: DescriptorError.self) {
      try TestPool.pool {
        var field = TestPool.field("a", 1, .bool)
        field.jsonName = "[other]"
        $0.messageType = [TestPool.message("M", [field])]
      }
    }
  }

  private static func extending(_ name: String) -> Google_Protobuf_FieldDescriptorProto {
    .with {
      $0 = TestPool.field(name, 100, .bool)
      $0.extendee = ".Base"
    }
  }

  private static func enumeration(_ name: String, _ value: String) -> Google_Protobuf_EnumDescriptorProto {
    .with {
      $0.name = name
      $0.value = [.with { $0.name = value }]
    }
  }

  private static func service(_ methods: String...) -> Google_Protobuf_ServiceDescriptorProto {
    .with {
      $0.name = "Service"
      $0.method = methods.map { name in .with { $0.name = name } }
    }
  }

  /// Types with the names of well-known types but other fields, whose bytes are messages nested in each other.
  @Test(arguments: [5_000, 200_000])
  func depthIsCountedWhereWellKnownTypesAreRewritten(depth: Int) throws {
    let pool = try TestPool.pool(syntax: "proto2") {
      $0.package = "google.protobuf"
      $0.messageType = [
        TestPool.message("BytesValue", [TestPool.field("value", 1, .message, typeName: "Node")]),
        TestPool.message("Node", [TestPool.field("next", 1, .group, typeName: "Node")]),
        TestPool.message("ListValue", [TestPool.field("values", 1, .bytes, label: .repeated)]),
      ]
    }
    let bytesValue = try #require(pool.messageType(named: "google.protobuf.BytesValue"))
    let groups = Array(repeating: 0x0B as UInt8, count: depth) + Array(repeating: 0x0C, count: depth)
    let text = "\"\(Data(groups).base64EncodedString())\""
    #expect(throws: DecodeError.self) { try DynamicMessage(bytesValue, jsonString: text) }

    let listValue = try #require(pool.messageType(named: "google.protobuf.ListValue"))
    var value = WireBytes.delimited(3, Array("innermost".utf8))
    while value.count < depth { value = WireBytes.delimited(6, WireBytes.delimited(1, value)) }
    let list = try DynamicMessage(listValue, serializedBytes: WireBytes.delimited(1, value))
    #expect(throws: EncodeError.self) { try list.jsonString() }
  }

  @Test func deepValuesOfWellKnownTypesAreRewritten() throws {
    let pool = try DescriptorPool(TestPool.files)
    for type in ["Struct", "Value"] {
      let table = try #require(pool.messageType(named: "google.protobuf.\(type)"))
      let depth = 99
      let text = String(repeating: #"{"a":"#, count: depth) + "{}" + String(repeating: "}", count: depth)
      #expect(try DynamicMessage(table, jsonString: text).jsonString() == text)
    }
  }
}
