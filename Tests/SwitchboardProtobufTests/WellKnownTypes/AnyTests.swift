import SwitchboardProtobuf
import TestMessages
import Testing

@Suite struct AnyTests {
  private static let prefix = "type.googleapis.com/"

  @Test(arguments: [
    JSONCase(#"{"oneAny":{"@type":"type.googleapis.com/switchboard.testing.AllKinds3","oneInt32":12345}}"#),
    JSONCase(
      #"{"oneAny":{"oneInt32":12345,"@type":"type.googleapis.com/switchboard.testing.AllKinds3"}}"#,
      #"{"oneAny":{"@type":"type.googleapis.com/switchboard.testing.AllKinds3","oneInt32":12345}}"#
    ),
    JSONCase(#"{"oneAny":{"@type":"example.org/a/b/switchboard.testing.Outer3"}}"#),
    JSONCase(
      #"{"oneAny":{"\u0040type":"/switchboard.testing.Outer3","c":1}}"#,
      #"{"oneAny":{"@type":"/switchboard.testing.Outer3","c":1}}"#
    ),
    JSONCase(#"{"oneAny":{}}"#), JSONCase(#"{"manyAny":[{},{}]}"#),
    JSONCase(
      #"{"oneAny":{"@type":"type.googleapis.com/google.protobuf.Any","value":{"@type":"type.googleapis.com/switchboard.testing.AllKinds3","oneInt32":12345}}}"#
    ),
    JSONCase(
      #"{"oneAny":{"@type":"type.googleapis.com/switchboard.testing.AllKinds3","oneAny":{"@type":"type.googleapis.com/switchboard.testing.Outer3","c":1},"oneInt32":2}}"#,
      #"{"oneAny":{"@type":"type.googleapis.com/switchboard.testing.AllKinds3","oneInt32":2,"oneAny":{"@type":"type.googleapis.com/switchboard.testing.Outer3","c":1}}}"#
    ),
    JSONCase(#"{"oneAny":{"@type":"type.googleapis.com/google.protobuf.Int32Value","value":12345}}"#),
    JSONCase(#"{"oneAny":{"@type":"type.googleapis.com/google.protobuf.Duration","value":"1.500s"}}"#),
    JSONCase(
      #"{"oneAny":{"value":"1970-01-01T00:00:00Z","@type":"type.googleapis.com/google.protobuf.Timestamp"}}"#,
      #"{"oneAny":{"@type":"type.googleapis.com/google.protobuf.Timestamp","value":"1970-01-01T00:00:00Z"}}"#
    ),
    JSONCase(#"{"oneAny":{"@type":"type.googleapis.com/google.protobuf.FieldMask","value":"foo,barBaz"}}"#),
    JSONCase(#"{"oneAny":{"@type":"type.googleapis.com/google.protobuf.Struct","value":{"foo":1}}}"#),
    JSONCase(#"{"oneAny":{"@type":"type.googleapis.com/google.protobuf.Value","value":{"foo":1}}}"#),
    JSONCase(#"{"oneAny":{"@type":"type.googleapis.com/google.protobuf.Value","value":null}}"#),
    JSONCase(#"{"oneAny":{"@type":"type.googleapis.com/google.protobuf.Value","value":1}}"#),
    JSONCase(#"{"oneAny":{"@type":"type.googleapis.com/google.protobuf.Empty"}}"#),
    JSONCase(
      #"{"mapInt32Any":{"1":{"@type":"type.googleapis.com/google.protobuf.BoolValue","value":true}}}"#
    ),
  ])
  func readsAndWritesJSON(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: [
    #"{"@type":"","value":""}"#, #"{"@type":"switchboard.testing.Outer3"}"#, #"{"@type":"a/unknown.Type"}"#,
    #"{"@type":"a/"}"#,
    #"{"@type":1}"#, #"{"@type":null}"#, #"{"c":1}"#, #"{"value":1}"#, "[]", "1", #""""#,
    #"{"@type":"a/switchboard.testing.Outer3","unknown":1}"#,
    #"{"@type":"a/switchboard.testing.Outer3","c":"x"}"#,
    #"{"@type":"a/switchboard.testing.Outer3","c":1,"c":1}"#,
    #"{"@type":"a/switchboard.testing.Outer3","c":1"#,
    #"{"@type":"a/google.protobuf.Int32Value","value":"x"}"#,
    #"{"@type":"a/google.protobuf.Int32Value","value":1,"a":1}"#,
    #"{"@type":"a/google.protobuf.Int32Value","value":1,"value":1}"#,
    #"{"@type":"a/google.protobuf.Int32Value","value":1"#,
    #"{"@type":"a/google.protobuf.Empty","value":{}}"#, #"{"@type":"a/google.protobuf.Int32Value"}"#,
    #"{"@type":"a/switchboard.testing.Outer3",}"#,
  ])
  func refusesOtherJSON(_ input: String) {
    refused(input, as: Google_Protobuf_Any.self)
    refused(#"{"oneAny":\#(input)}"#)
  }

  @Test func rejectsMessagesThatItCannotExpand() throws {
    let unknown = Google_Protobuf_Any.with { $0.typeURL = "type.googleapis.com/unknown.Type" }
    #expect(throws: EncodeError.self) { try unknown.jsonString() }
    let broken = Google_Protobuf_Any.with {
      $0.typeURL = AnyTests.prefix + "google.protobuf.Duration"
      $0.value = [0x08]
    }
    #expect(throws: EncodeError.self) { try broken.jsonString() }
    let untyped = Google_Protobuf_Any.with { $0.value = [1] }
    #expect(throws: EncodeError.self) { try untyped.jsonString() }
    let invalid = try Google_Protobuf_Any(message: Google_Protobuf_Timestamp(seconds: .max))
    #expect(throws: EncodeError.self) { try invalid.jsonString() }
  }

  @Test func packsAndUnpacks() throws {
    let message = Switchboard_Testing_Outer3.with { $0.c = 7 }
    let any = try Google_Protobuf_Any(message: message)
    #expect(any.typeURL == "type.googleapis.com/switchboard.testing.Outer3")
    #expect(any.typeName == "switchboard.testing.Outer3")
    #expect(any.isA(Switchboard_Testing_Outer3.self))
    #expect(!any.isA(AllKinds3.self))
    #expect(try any.unpack() == message)
    #expect(throws: DecodeError.self) { try any.unpack(as: AllKinds3.self) }
    #expect(throws: DecodeError.self) { try Google_Protobuf_Any().unpack(as: AllKinds3.self) }
    #expect(
      try Google_Protobuf_Any(message: message, typePrefix: "a.b/").typeURL
        == "a.b/switchboard.testing.Outer3"
    )
    #expect(Google_Protobuf_Any().typeName == nil)
    #expect(throws: EncodeError.self) { try Google_Protobuf_Any(message: Switchboard_Testing_Required2()) }
  }

  /// Nested messages with an `Any` in the innermost that contains more of them, and so on: each as deep as is allowed,
  /// all together far deeper.
  @Test func isNoDeeperInTextThanAnyMessage() throws {
    var any = Google_Protobuf_Any()
    for _ in 0..<30 {
      var message = AllKinds3.with { $0.oneAny = any }
      for _ in 0..<80 { message = AllKinds3.with { $0.recursive = message } }
      any = try Google_Protobuf_Any(message: message)
    }
    var options = TextFormatEncodingOptions()
    options.typeRegistry = [AllKinds3.self]
    options.singleLine = true
    let text = AllKinds3.with { $0.oneAny = any }.textFormatString(options: options)
    var (depth, deepest) = (0, 0)
    for byte in text.utf8 {
      if byte == UInt8(ascii: "{") { depth += 1 }
      if byte == UInt8(ascii: "}") { depth -= 1 }
      deepest = max(deepest, depth)
    }
    #expect(80...200 ~= deepest)
    // The first levels are expanded, and the next is left as bytes.
    #expect(text.contains("[type.googleapis.com/switchboard.testing.AllKinds3]"))
    #expect(text.contains("type_url: "))
  }

  @Test func isNoDeeperInTextForAnAnyInAnAny() throws {
    var any = Google_Protobuf_Any()
    for _ in 0..<1000 { any = try Google_Protobuf_Any(message: any) }
    let text = any.textFormatString()
    #expect(text.split(separator: "[type.googleapis.com/google.protobuf.Any] {").count == 201)
    #expect(text.contains("type_url: "))
  }
}
