import SwitchboardProtobuf
import TestMessages
import Testing

/// The effects of the options, and the texts of errors.
@Suite struct JSONOptionTests {
  private func written(_ message: some Message, _ change: (inout JSONEncodingOptions) -> Void) throws
    -> String
  {
    var options = JSONEncodingOptions()
    change(&options)
    return try message.jsonString(options: options)
  }

  @Test func writesDefaultValuesWhenAsked() throws {
    let empty = try written(Switchboard_Testing_Outer3()) { $0.alwaysPrintFieldsWithNoPresence = true }
    #expect(empty == #"{"c":0,"text":""}"#)
    let large = try written(Switchboard_Testing_Large3.with { $0.outer.c = 1 }) {
      $0.alwaysPrintFieldsWithNoPresence = true
    }
    // Fields with presence are not written: messages, the oneof, and `optional` fields.
    #expect(
      large
        == #"{"a":"","b":"","c":"","d":"","e":"","f":"","g":"","h":"","i":"","outer":{"c":1,"text":""}}"#
    )
    let all = try written(AllKinds3()) { $0.alwaysPrintFieldsWithNoPresence = true }
    #expect(all.contains(#""oneInt64":"0","oneUint32":0"#))
    #expect(all.contains(#""oneColor":"RED""#))
    #expect(all.contains(#""manyNested":[]"#))
    #expect(all.contains(#""mapInt32Int32":{}"#))
    #expect(all.contains(#""oneNullValue":null"#))
    #expect(!all.contains("oneNested"))
    #expect(!all.contains("optionalInt32"))
    #expect(try AllKinds3(jsonString: all) == AllKinds3())
  }

  @Test func writesEnumsAsNumbersWhenAsked() throws {
    let message = AllKinds3.with {
      $0.oneColor = .blue
      $0.manyColor = [.red, .UNRECOGNIZED(9)]
      $0.mapStringColor = ["a": .negative]
    }
    let json = try written(message) { $0.alwaysPrintEnumsAsInts = true }
    #expect(json == #"{"oneColor":2,"manyColor":[0,9],"mapStringColor":{"a":-1}}"#)
  }

  @Test func writes64BitsAsNumbersWhenAsked() throws {
    let message = AllKinds3.with {
      $0.oneInt64 = .min
      $0.manyUint64 = [.max]
      $0.mapInt64Int64 = [1: 2]
      $0.wrappedInt64 = 3
    }
    let json = try written(message) { $0.alwaysPrintInt64sAsNumbers = true }
    let expected =
      #"{"oneInt64":-9223372036854775808,"manyUint64":[18446744073709551615],"mapInt64Int64":{"1":2},"wrappedInt64":3}"#
    #expect(json == expected)
    #expect(try AllKinds3(jsonString: json) == message)
  }

  @Test func sortsMapsWhenAsked() throws {
    let message = AllKinds3.with {
      $0.mapInt32Int32 = [10: 0, -1: 0, 9: 0]
      $0.mapStringString = ["b": "", "a": "", "ä": "", "B": ""]
      $0.mapBoolBool = [true: false, false: true]
    }
    let json = try written(message) { $0.deterministic = true }
    let expected =
      #"{"mapInt32Int32":{"-1":0,"9":0,"10":0},"mapBoolBool":{"false":true,"true":false},"mapStringString":{"B":"","a":"","b":"","ä":""}}"#
    #expect(json == expected)
  }

  @Test func leavesUnknownFieldsOut() throws {
    let message = try AllKinds3(serializedBytes: [0x08, 0x01, 0xF8, 0x7F, 0x01])
    #expect(!message.unknownFields.isEmpty)
    #expect(try message.jsonString() == #"{"oneInt32":1}"#)
  }

  @Test func readsAndWritesArraysOfMessages() throws {
    let messages = [AllKinds3.with { $0.oneInt32 = 1 }, AllKinds3()]
    #expect(try AllKinds3.jsonString(from: messages) == #"[{"oneInt32":1},{}]"#)
    #expect(try AllKinds3.array(fromJSONString: #" [ {"oneInt32":1} , {} ] "#) == messages)
    #expect(try AllKinds3.array(fromJSONString: "[]") == [])
    #expect(try AllKinds3.jsonString(from: []) == "[]")
    for bad in ["{}", "null", "[", "[null]", "[{}] x", "[1]", ""] {
      #expect(throws: DecodeError.self) { try AllKinds3.array(fromJSONString: bad) }
    }
    let error = #expect(throws: DecodeError.self) {
      try AllKinds3.array(fromJSONString: #"[{},{"oneInt32":""}]"#)
    }
    #expect(error?.description.hasPrefix("AllKinds3[1].one_int32: ") == true)
  }

  @Test func reportsMissingRequiredFields() throws {
    let error = #expect(throws: DecodeError.self) { try Switchboard_Testing_Required2(jsonString: "{}") }
    #expect(error?.description == "Required2.number: missing required field")
    let unwritten = #expect(throws: EncodeError.self) { try Switchboard_Testing_Required2().jsonString() }
    #expect(unwritten?.description == "Required2.number: missing required field")
    let inArray = #expect(throws: DecodeError.self) {
      try Switchboard_Testing_Required2.array(fromJSONString: #"[{"number":1}]"#)
    }
    #expect(inArray?.description == "Required2[0].text: missing required field")
    let partial = try Switchboard_Testing_Required2(jsonString: #"{"number":1}"#, partial: true)
    #expect(try partial.jsonString(partial: true) == #"{"number":1}"#)
  }

  @Test(arguments: [
    (
      #"{"manyNested":[{},{"outer":{"oneInt32":true}}]}"#,
      "AllKinds3.many_nested[1].outer.one_int32: expected a number, found 't' (line 1, column 40)"
    ),
    (
      #"{"mapStringNested":{"x":{"a":""}}}"#,
      "AllKinds3.map_string_nested[x].a: expected a number, found '\"' (line 1, column 31)"
    ),
    (
      #"{"oneInt32":1.5}"#,
      "AllKinds3.one_int32: not a whole number, and the field has only those (line 1, column 13)"
    ),
    (
      #"{"oneInt32":"15e-1"}"#,
      "AllKinds3.one_int32: not a whole number, and the field has only those (line 1, column 13)"
    ),
    (#"{"oneInt32":1e99}"#, "AllKinds3.one_int32: number out of range (line 1, column 13)"),
    ("{\n  \"oneString\": \"ü\", \"oneInt32\" 1}", "AllKinds3: expected ':', found '1' (line 2, column 32)"),
    (#"{"oneInt32":1"#, "AllKinds3: expected ',' or '}', found the end (line 1, column 14)"),
    (#"{"oneInt32":1 , }"#, "AllKinds3: a trailing comma, which JSON does not allow (line 1, column 15)"),
    (
      #"{"manyInt32":[1,]}"#,
      "AllKinds3.many_int32[1]: a trailing comma, which JSON does not allow (line 1, column 16)"
    ),
    ("{\n // one\n\"oneInt32\":1}", "AllKinds3: a comment, which JSON does not allow (line 2, column 2)"),
    (
      #"{"oneInt32":/* one */ 1}"#,
      "AllKinds3.one_int32: a comment, which JSON does not allow (line 1, column 13)"
    ),
    (#"{"a":1}"#, "AllKinds3: switchboard.testing.AllKinds3 has no field \"a\" (line 1, column 2)"),
    (
      #"{"oneOuterColor": "PINK"}"#,
      "AllKinds3.one_outer_color: switchboard.testing.OuterColor3 has no value \"PINK\" (line 1, column 19)"
    ),
  ])
  func saysWhatIsWrongAndWhere(_ input: String, _ text: String) {
    #expect(refused(input) == text)
  }
}
