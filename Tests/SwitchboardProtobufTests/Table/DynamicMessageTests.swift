import SwitchboardDescriptors
import SwitchboardProtobuf
import TestMessages
import Testing

/// The fields of dynamic messages: reading, setting, presence, and value semantics.
@Suite struct DynamicMessageTests {
  private let order: MessageTable

  init() throws {
    let pool = try TestPool.pool {
      var payment = TestPool.field("card", 6, .string)
      payment.oneofIndex = 0
      var invoice = TestPool.field("invoice", 7, .message, typeName: ".Address")
      invoice.oneofIndex = 0
      var note = TestPool.field("note", 2, .string)
      note.proto3Optional = true
      note.oneofIndex = 1
      var order = TestPool.message(
        "Order",
        [
          TestPool.field("customer", 1, .string), note,
          TestPool.field("articles", 3, .string, label: .repeated),
          TestPool.field("address", 4, .message, typeName: "Address"), TestPool.field("count", 5, .int32),
          payment,
          invoice, TestPool.field("numbers", 8, .sint64, label: .repeated),
          TestPool.field("stock", 9, .message, typeName: ".Order.StockEntry", label: .repeated),
        ]
      )
      order.oneofDecl = [.with { $0.name = "payment" }, .with { $0.name = "_note" }]
      var entry = TestPool.message(
        "StockEntry",
        [TestPool.field("key", 1, .string), TestPool.field("value", 2, .message, typeName: ".Address")]
      )
      entry.options.mapEntry = true
      order.nestedType = [entry]
      $0.messageType = [order, TestPool.message("Address", [TestPool.field("street", 1, .string)])]
    }
    self.order = try #require(pool.messageType(named: "Order"))
  }

  @Test func readsWhatWasSet() throws {
    var message = DynamicMessage(order)
    #expect(message["customer"] == .string("") && message["note"] == .string("") && message["address"] == nil)
    #expect(
      !message.has("customer") && !message.has("note") && message["nobody"] == nil && message[99] == nil
    )
    try message.set("customer", to: .string("Ada"))
    try message.set("note", to: .string(""))
    try message.set("articles", to: .list([.string("tea"), .string("a cup of more than fifteen bytes")]))
    try message.set("count", to: .int32(-1))
    #expect(message["customer"] == .string("Ada") && message[5] == .int32(-1))
    #expect(message.has("note") && message.has("customer"))
    #expect(message["articles"] == .list([.string("tea"), .string("a cup of more than fifteen bytes")]))
    try message.clear("articles")
    try message.clear("note")
    #expect(message["articles"] == nil && !message.has("note"))
    #expect(
      try message.serializedBytes() == [0x0A, 3, 0x41, 0x64, 0x61, 0x28] + Array(repeating: 0xFF, count: 9)
        + [1]
    )
  }

  @Test func refusesValuesOfOtherTypes() throws {
    var message = DynamicMessage(order)
    let other = DynamicMessage(order)
    for (name, value) in [
      ("customer", DynamicValue.int32(1)), ("count", .int64(1)), ("count", .enumeration(1)),
      ("articles", .string("")),
      ("articles", .list([.int32(1)])), ("address", .message(other)),
      ("stock", .map([.int32(1): .message(other)])),
      ("stock", .list([])), ("customer", .list([])),
    ] {
      #expect(throws: DynamicFieldError.self, "\(name)") { try message.set(name, to: value) }
    }
    #expect(throws: DynamicFieldError.self) { try message.set("nobody", to: .int32(1)) }
    #expect(throws: DynamicFieldError.self) { try message.clear("nobody") }
    #expect(throws: DynamicFieldError.self) { try message.modify("customer") { _ in } }
    #expect(throws: DynamicFieldError.self) {
      try message.modify("address") { [order] in $0 = DynamicMessage(order) }
    }
    #expect(message == DynamicMessage(order))
  }

  @Test func anErrorNamesTheFieldAndBothKinds() throws {
    var message = DynamicMessage(order)
    let other = DynamicValue.message(message)
    for (name, value, text) in [
      ("customer", DynamicValue.int32(1), "string, not int32"),
      ("count", .enumeration(1), "int32, not enumeration"),
      ("numbers", .int64(1), "list of int64, not int64"), ("articles", .map([:]), "list of string, not map"),
      ("articles", .list([.string(""), .bytes([])]), "list of string, not list with bytes"),
      ("address", other, "message Address, not message Order"),
      ("stock", .map([.int32(1): other]), "map of string to message Address, not map with the key int32"),
      ("stock", .map([.string("a"): other]), "map of string to message Address, not map with message Order"),
    ] {
      #expect(error { try message.set(name, to: value) } == "Order.\(name) takes \(text)")
    }
    #expect(error { try message.modify("count") { _ in } } == "Order.count takes int32, not message")
    let replaced = error { try message.modify("address") { [order] in $0 = DynamicMessage(order) } }
    #expect(replaced == "Order.address takes message Address, not message Order")
    #expect(error { try message.clear("nobody") } == "Order has no field \"nobody\"")
  }

  private func error(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test func aCopyIsAnotherValue() throws {
    var first = DynamicMessage(order)
    try first.modify("address") { address throws(DynamicFieldError) in
      try address.set("street", to: .string("a street of more than fifteen bytes"))
    }
    try first.set("numbers", to: .list([.int64(1)]))
    let copy = first
    try first.modify("address") { address throws(DynamicFieldError) in
      try address.set("street", to: .string("Main"))
    }
    try first.set("card", to: .string("a card of more than fifteen bytes"))
    try first.set("numbers", to: .list([.int64(2)]))
    guard case .message(let old)? = copy["address"], case .message(let new)? = first["address"] else {
      Issue.record("no address")
      return
    }
    #expect(
      old["street"] == .string("a street of more than fifteen bytes") && new["street"] == .string("Main")
    )
    #expect(copy["numbers"] == .list([.int64(1)]) && !copy.has("card"))
    #expect(copy != first && copy == copy && copy.hashValue == copy.hashValue)
  }

  @Test func aOneofHasOneMember() throws {
    var message = DynamicMessage(order)
    try message.set("card", to: .string("a card of more than fifteen bytes"))
    try message.modify("invoice") { address throws(DynamicFieldError) in
      try address.set("street", to: .string("Main"))
    }
    #expect(!message.has("card") && message.has("invoice"))
    let copy = message
    try message.set("card", to: .string("4711"))
    #expect(message.has("card") && !message.has("invoice") && copy.has("invoice"))
    try message.clear("card")
    #expect(message == DynamicMessage(order))
    #expect(throws: DecodeError.self) {
      try DynamicMessage(order, jsonString: #"{"card": "1", "invoice": {}}"#)
    }
    #expect(throws: DecodeError.self) { try DynamicMessage(order, textFormatString: #"card: "1" card: "2""#) }
  }

  @Test func aMapHoldsMessages() throws {
    var message = DynamicMessage(order)
    let addresses = try #require(order.field(named: "stock").flatMap(order.message(of:)))
    var address = DynamicMessage(addresses)
    try address.set("street", to: .string("Main"))
    try message.set("stock", to: .map([.string("a"): .message(address)]))
    #expect(try message.jsonString() == #"{"stock":{"a":{"street":"Main"}}}"#)
    #expect(try DynamicMessage(order, jsonString: message.jsonString()) == message)
    #expect(try DynamicMessage(order, textFormatString: message.textFormatString()) == message)
    #expect(message["stock"] == .map([.string("a"): .message(address)]))
  }

  @Test func keepsUnknownFields() throws {
    var message = DynamicMessage(order)
    try message.merge(serializedBytes: [0xA0, 0x06, 1, 0xA3, 0x06, 0xA4, 0x06])
    let copy = message
    message.unknownFields.bytes += [0xA0, 0x06, 2]
    #expect(copy.unknownFields.bytes == [0xA0, 0x06, 1, 0xA3, 0x06, 0xA4, 0x06])
    #expect(try message.serializedBytes() == copy.unknownFields.bytes + [0xA0, 0x06, 2])
    var options = BinaryDecodingOptions()
    options.discardUnknownFields = true
    #expect(
      try DynamicMessage(order, serializedBytes: [0xA0, 0x06, 1], options: options).unknownFields.isEmpty
    )
  }

  @Test func errorsNameTheField() throws {
    let error = #expect(throws: DecodeError.self) {
      try DynamicMessage(order, serializedBytes: [0x22, 2, 0x0A, 5])
    }
    #expect(error?.description == "Order.address.street: truncated")
    let json = #expect(throws: DecodeError.self) {
      try DynamicMessage(order, jsonString: #"{"address": {"street": 1}}"#)
    }
    #expect(json?.path == ["Order", "address", "street"])
  }

  @Test func depthIsCounted() throws {
    let pool = try TestPool.pool {
      $0.messageType = [TestPool.message("Node", [TestPool.field("next", 1, .message, typeName: ".Node")])]
    }
    let node = try #require(pool.messageType(named: "Node"))
    func nested(_ depth: Int) -> [UInt8] {
      (0..<depth).reduce(into: [UInt8]()) { bytes, _ in
        let count = bytes.count
        bytes =
          [0x0A] + (count < 128 ? [UInt8(count)] : [UInt8(count & 0x7F) | 0x80, UInt8(count >> 7)]) + bytes
      }
    }
    #expect(try DynamicMessage(node, serializedBytes: nested(100)).serializedBytes() == nested(100))
    #expect(throws: DecodeError.self) { try DynamicMessage(node, serializedBytes: nested(101)) }
  }

  @Test func mergesMessages() throws {
    var message = try DynamicMessage(order, textFormatString: #"customer: "a" articles: "x" address { }"#)
    let other = try DynamicMessage(order, textFormatString: #"articles: "y" address { street: "Main" }"#)
    try message.merge(other)
    let whole = #"customer: "a" articles: ["x", "y"] address { street: "Main" }"#
    #expect(try message == DynamicMessage(order, textFormatString: whole))
    let address = try #require(order.field(named: "address").flatMap(order.message(of:)))
    #expect(throws: EncodeError.self) { try message.merge(DynamicMessage(address)) }
  }

  @Test func theTypeOutlivesThePool() throws {
    func make() throws -> DynamicMessage {
      let pool = try TestPool.pool {
        $0.messageType = [TestPool.message("Note", [TestPool.field("text", 1, .string)])]
      }
      return DynamicMessage(try #require(pool.messageType(named: "Note")))
    }
    var message = try make()
    try message.set("text", to: .string("still here"))
    #expect(message.type.fullName == "Note" && message.debugDescription == "Note:\ntext: \"still here\"\n")
  }
}
