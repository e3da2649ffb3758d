import SwitchboardProtobuf
import TestMessages
import Testing

/// Values and wrappers as literals.
@Suite struct LiteralTests {
  @Test func literalsMakeValuesOfEveryKind() throws {
    let value: Google_Protobuf_Value = [
      "text": "a", "number": 1, "half": 0.5, "truth": true, "nothing": nil, "list": [1, "b", [nil]],
      "object": ["c": [:]],
    ]
    let json =
      #"{"half":0.5,"list":[1,"b",[null]],"nothing":null,"number":1,"object":{"c":{}},"text":"a","truth":true}"#
    #expect(try Google_Protobuf_Value(jsonString: json) == value)
    #expect(value.structValue["number"]?.numberValue == 1)
    let list: Google_Protobuf_ListValue = [1, "b"]
    #expect(list[1] == "b")
    var object: Google_Protobuf_Struct = ["a": 1, "a": 2]
    #expect(object["a"] == 2)
    object["a"] = nil
    #expect(object.fields.isEmpty)
  }

  @Test func literalsMakeWrappers() {
    let message = AllKinds3.with {
      $0.wrappedInt32 = 1
      $0.wrappedInt64 = -1
      $0.wrappedUint32 = 2
      $0.wrappedUint64 = 3
      $0.wrappedBool = true
      $0.wrappedString = "a"
      $0.wrappedBytes = [1, 2]
      $0.wrappedFloat = 0.5
      $0.wrappedDouble = Google_Protobuf_DoubleValue(0.25)
    }
    #expect(message.wrappedInt64.value == -1)
    #expect(message.wrappedBytes.value == [1, 2])
    #expect(message.wrappedDouble.value == 0.25)
  }
}
