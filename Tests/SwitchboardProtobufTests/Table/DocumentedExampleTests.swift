import SwitchboardDescriptors
import SwitchboardProtobuf
import Testing

/// The example of docs/guide/Messages.md.
@Suite struct DocumentedExampleTests {
  private func withoutNote(_ json: String, descriptors: [UInt8]) throws -> String {
    let pool = try DescriptorPool(Google_Protobuf_FileDescriptorSet(serializedBytes: descriptors))
    guard let type = pool.messageType(named: "shop.Order") else { return json }
    var order = try DynamicMessage(type, jsonString: json)
    if order["customer"] == .string("Ada") { try order.clear("note") }
    try order.modify("address") { address throws(DynamicFieldError) in
      try address.set("city", to: .string("London"))
    }
    return try order.jsonString()
  }

  @Test func clearsTheNote() throws {
    let file = Google_Protobuf_FileDescriptorProto.with {
      $0.name = "shop.proto"
      $0.package = "shop"
      $0.syntax = "proto3"
      $0.messageType = [
        TestPool.message(
          "Order",
          [
            TestPool.field("customer", 1, .string), TestPool.field("note", 2, .string),
            TestPool.field("address", 4, .message, typeName: ".shop.Address"),
          ]
        ),
        TestPool.message(
          "Address",
          [TestPool.field("street", 1, .string), TestPool.field("city", 2, .string)]
        ),
      ]
    }
    let descriptors = try Google_Protobuf_FileDescriptorSet.with { $0.file = [file] }.serializedBytes()
    let json = try withoutNote(#"{"customer": "Ada", "note": "urgent"}"#, descriptors: descriptors)
    #expect(json == #"{"customer":"Ada","address":{"city":"London"}}"#)
  }
}
