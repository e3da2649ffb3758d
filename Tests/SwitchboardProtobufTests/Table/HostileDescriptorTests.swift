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
