import SwitchboardProtobuf
import TestMessages
import Testing

/// How members of an object map to fields: names, presence, repetition, null.
@Suite struct JSONFieldTests {
  @Test(arguments: [
    JSONCase(#"{"fieldname1":1,"fieldName2":2,"FieldName3":3,"fieldName4":4}"#),
    JSONCase(#"{"field0name5":5,"field0Name6":6}"#),
    JSONCase(
      #"{"fieldName7":7,"FieldName8":8,"fieldName9":9,"FieldName10":10,"FIELDNAME11":11,"FIELDName12":12}"#
    ),
    JSONCase(
      #"{"FieldName13":13,"FieldName14":14,"fieldName15":15,"fieldName16":16,"fieldName17":17,"FieldName18":18}"#
    ),
    JSONCase(
      #"{"field_name2":2,"_field_name3":3,"field__name4_":4,"field_0_name6":6,"field_Name9":9,"__Field_name14":14}"#,
      #"{"fieldName2":2,"FieldName3":3,"fieldName4":4,"field0Name6":6,"fieldName9":9,"FieldName14":14}"#
    ),
    JSONCase(#"{"custom":1,"@type of \"thing\": ü":2}"#),
    JSONCase(#"{"renamed":1,"renamed_oddly":2}"#, #"{"custom":1,"@type of \"thing\": ü":2}"#),
    JSONCase(
      #"{"FieldName18":18,"oneString":"a","oneInt32":1}"#,
      #"{"oneInt32":1,"oneString":"a","FieldName18":18}"#
    ),
  ])
  func knowsBothNames(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  /// A dictionary has one of them, and the other would be lost.
  @Test func keysThatDifferOnlyInTheirNormalization() {
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    func failure(_ json: String) -> String? {
      #expect(throws: DecodeError.self) { try AllKinds3(jsonString: json) }?.description
    }
    let reason = "the key differs from another one only in its Unicode normalization"
    for map in ["mapStringString", "oneStruct"] {
      #expect(failure(#"{"\#(map)":{"\#(composed)":"a","\#(decomposed)":"b"}}"#)?.contains(reason) == true)
      #expect(failure(#"{"\#(map)":{"a":"a","a":"b"}}"#)?.contains("duplicate key") == true)
    }
    for key in [composed, decomposed] {
      let message = try? AllKinds3(jsonString: #"{"mapStringString":{"\#(key)":"a"}}"#)
      #expect(message?.mapStringString.keys.first?.utf8.elementsEqual(key.utf8) == true)
    }
  }

  @Test func writesOriginalNamesWhenAsked() throws {
    var options = JSONEncodingOptions()
    options.preserveProtoFieldNames = true
    let message = AllKinds3.with {
      $0.oneInt32 = 1
      $0.oneNested.a = 2
      $0.renamedOddly = 3
      $0.oneTimestamp = Google_Protobuf_Timestamp(seconds: 0)
    }
    let expected =
      #"{"one_int32":1,"one_nested":{"a":2},"one_timestamp":"1970-01-01T00:00:00Z","renamed_oddly":3}"#
    #expect(try message.jsonString(options: options) == expected)
  }

  @Test(arguments: [
    #"{"unknown":1}"#, #"{"OneInt32":1}"#, #"{"oneint32":1}"#, #"{"1":1}"#, #"{"":1}"#, #"{"one_Int32":1}"#,
    #"{"[switchboard.testing.extension_int32]":1}"#, #"{"oneNested":{"b":1}}"#, #"{"choice":1}"#,
  ])
  func refusesUnknownNames(_ input: String) { refused(input) }

  @Test(arguments: [
    "1", #""a""#, "true", "false", "null", #"{"a":1}"#, "[]", "{}", "[1,2,[3,{}]]",
    #"{"a":[{"b":null},{}],"c":{}}"#,
    "-1.5e-7", #""\u0041\n""#, "[[[[]]],{}]",
  ])
  func ignoresUnknownNamesWhenAsked(_ value: String) throws {
    let input = #"{"oneInt32":1,"unknown":\#(value),"oneString":"a","oneNested":{"unknown":\#(value)}}"#
    try JSONCase(input, #"{"oneInt32":1,"oneString":"a","oneNested":{}}"#).check(
      AllKinds3.self,
      ignoringUnknown: true
    )
  }

  @Test(arguments: [
    "", "[", "{", "[1,]", "[1 2]", #"{"a"}"#, #"{"a":1,}"#, #"{a:1}"#, "[}", "{]", "tru", "01", "nul", "[1]]",
  ])
  func checksWhatItIgnores(_ value: String) {
    var options = JSONDecodingOptions()
    options.ignoreUnknownFields = true
    #expect(throws: DecodeError.self) {
      try AllKinds3(jsonString: #"{"unknown":\#(value)}"#, options: options)
    }
  }

  @Test(arguments: [
    #"{"oneInt32":1,"oneInt32":1}"#, #"{"oneNested":{"a":1},"oneNested":{}}"#,
    #"{"one_nested":{"a":1},"oneNested":{}}"#, #"{"oneNested":{"a":1},"one_nested":{}}"#,
    #"{"manyInt32":[1],"manyInt32":[2]}"#, #"{"mapInt32Int32":{},"mapInt32Int32":{}}"#,
    #"{"FieldName18":1,"__field_name13":1,"Field_name18__":2}"#,
    #"{"mapInt32Int32":{"1":1,"1":2}}"#, #"{"mapStringString":{"a":"","\u0061":""}}"#,
    #"{"choiceUint32":1,"choiceString":"test"}"#, #"{"choiceUint32":1,"choiceUint32":2}"#,
    #"{"choiceNested":{},"choiceBool":false}"#, #"{"choiceBool":false,"choiceNested":{}}"#,
    #"{"choiceNull":null,"choiceBool":false}"#, #"{"oneInt32":null,"oneInt32":1}"#,
    #"{"oneInt32":1,"one_int32":null}"#, #"{"oneInt32":null,"oneInt32":null}"#,
    #"{"manyInt32":null,"manyInt32":[1]}"#, #"{"choiceUint32":null,"choiceUint32":2}"#,
    #"{"oneAny":{"@type":"x/google.protobuf.Duration","value":"1s","@type":"x/google.protobuf.Empty"}}"#,
    #"{"oneAny":{"@type":"x/switchboard.testing.Outer3","@type":"x/switchboard.testing.Outer3"}}"#,
  ])
  func rejectsDuplicateFields(_ input: String) { refused(input) }

  @Test(arguments: [
    JSONCase(#"{"choiceUint32":null,"choiceString":"test"}"#, #"{"choiceString":"test"}"#),
    JSONCase(#"{"choiceString":"test","choiceUint32":null}"#, #"{"choiceString":"test"}"#),
    JSONCase(#"{"choiceString":"test","choiceNested":null}"#, #"{"choiceString":"test"}"#),
    JSONCase(#"{"choiceNull":null}"#), JSONCase(#"{"choiceNull":"NULL_VALUE"}"#, #"{"choiceNull":null}"#),
    JSONCase(#"{"oneNullValue":null}"#, "{}"), JSONCase(#"{"oneValue":null}"#),
    JSONCase(#"{"manyValue":[null,1]}"#),
    JSONCase(
      #"{"oneValue":null,"oneNested":null,"manyInt32":null,"mapInt32Int32":null}"#,
      #"{"oneValue":null}"#
    ),
    JSONCase(
      #"{"oneInt32":null,"oneFloat":null,"oneBool":null,"oneString":null,"oneBytes":null,"oneColor":null,"optionalInt32":null,"manyNested":null,"manyString":null,"mapBoolBool":null,"mapStringNested":null,"wrappedInt32":null,"oneTimestamp":null,"oneDuration":null,"oneStruct":null,"oneAny":null,"oneFieldMask":null,"oneListValue":null,"oneEmpty":null,"manyValue":null}"#,
      "{}"
    ),
  ])
  func readsNullAsAbsent(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: [
    #"{"manyInt32":[1,null,2]}"#, #"{"manyString":[null]}"#, #"{"manyNested":[{"a":1},null]}"#,
    #"{"manyColor":[null]}"#,
    #"{"mapInt32Int32":{"0":null}}"#, #"{"mapInt32Int32":{null:1}}"#, #"{"mapStringNested":{"a":null}}"#,
    #"{"manyWrappedInt32":[null]}"#, #"{"manyTimestamp":[null]}"#, #"{"manyStruct":[null]}"#,
    #"{"manyListValue":[null]}"#,
  ])
  func refusesNullWithin(_ input: String) { refused(input) }

  @Test(arguments: [
    JSONCase(#"{"manyInt32":[1,2,3,4]}"#), JSONCase(#"{"manyColor":["RED","BLUE",7]}"#),
    JSONCase(#"{"manyString":["Hello","world"]}"#), JSONCase(#"{"manyBytes":["AAEC","AQI="]}"#),
    JSONCase(#"{"manyNested":[{"a":1234},{},{"a":5678}]}"#), JSONCase(#"{"manyDouble":[1,0.5,"NaN"]}"#),
    JSONCase(#"{"packedInt64":["1","-1"],"unpackedBool":[true,false]}"#),
    JSONCase(#"{"mapInt32Int32":{"-1":2,"3":4}}"#),
    JSONCase(#"{"mapUint64Uint64":{"1":"2","18446744073709551615":"0"}}"#),
    JSONCase(#"{"mapBoolBool":{"false":false,"true":true}}"#), JSONCase(#"{"mapStringBytes":{"":"AQI="}}"#),
    JSONCase(#"{"mapStringNested":{"hello":{"a":1234},"world":{"a":5678}}}"#),
    JSONCase(#"{"mapStringColor":{"a":"RED","b":5}}"#),
    JSONCase(#"{"mapInt32Double":{"0":0.5,"1":"Infinity"}}"#),
    JSONCase(#"{"mapInt32Int32":{"\u0031":2}}"#, #"{"mapInt32Int32":{"1":2}}"#),
    JSONCase(#"{"mapInt64Int64":{"\u0031":2}}"#, #"{"mapInt64Int64":{"1":"2"}}"#),
    JSONCase(#"{"mapBoolBool":{"tr\u0075e":true}}"#, #"{"mapBoolBool":{"true":true}}"#),
    JSONCase(#"{"mapStringString":{"\"\\":"\n"}}"#),
    JSONCase(#"{"mapStringSelf":{"a":{"mapStringSelf":{"b":{}}}}}"#),
    JSONCase(
      #"{"recursive":{"oneNested":{"outer":{"oneInt32":1}},"oneInt32":2},"FieldName18":1}"#,
      #"{"recursive":{"oneInt32":2,"oneNested":{"outer":{"oneInt32":1}}},"FieldName18":1}"#
    ),
  ])
  func readsRepeatedFieldsAndMaps(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: [
    #"{"manyInt32":[1,false]}"#, #"{"manyInt32":[1,"name"]}"#, #"{"manyInt32":[{"a":4}]}"#,
    #"{"manyInt32":[[1]]}"#,
    #"{"manyString":["1",2]}"#, #"{"manyString":[false]}"#, #"{"manyString":[{"a":4}]}"#,
    #"{"manyNested":[{"a":1},2]}"#, #"{"manyNested":[false]}"#, #"{"manyNested":["2"]}"#,
    #"{"manyNested":{"a":1}}"#,
    #"{"manyInt32":1}"#, #"{"manyInt32":{}}"#, #"{"manyInt32":"1"}"#, #"{"oneNested":[]}"#,
    #"{"oneNested":1}"#,
    #"{"mapInt32Int32":{1:2}}"#, #"{"mapUint32Uint32":{1:2}}"#, #"{"mapInt64Int64":{1:2}}"#,
    #"{"mapUint64Uint64":{1:2}}"#,
    #"{"mapBoolBool":{true:true}}"#, #"{"mapBoolBool":{"True":true}}"#, #"{"mapBoolBool":{"1":true}}"#,
    #"{"mapInt32Int32":{"a":2}}"#, #"{"mapInt32Int32":{"":2}}"#, #"{"mapInt32Int32":{" 1":2}}"#,
    #"{"mapInt32Int32":{"2147483648":2}}"#, #"{"mapUint32Uint32":{"-1":2}}"#, #"{"mapInt32Int32":[]}"#,
    #"{"mapInt32Int32":{"1":2,}}"#, #"{"mapInt32Int32":[{"key":1,"value":2}]}"#, #"{"oneString":12345}"#,
  ])
  func refusesValuesOfOtherKinds(_ input: String) { refused(input) }

  @Test(arguments: [
    JSONCase(#"{"choiceUint32":0}"#), JSONCase(#"{"choiceNested":{}}"#), JSONCase(#"{"choiceString":""}"#),
    JSONCase(#"{"choiceBytes":""}"#), JSONCase(#"{"choiceBool":false}"#), JSONCase(#"{"choiceUint64":"0"}"#),
    JSONCase(#"{"choiceFloat":0}"#), JSONCase(#"{"choiceDouble":0}"#), JSONCase(#"{"choiceColor":"RED"}"#),
    JSONCase(#"{"optionalInt32":0,"optionalString":"","optionalColor":"RED","optionalNested":{}}"#),
    JSONCase(#"{"oneInt32":0,"oneString":"","oneColor":"RED","oneNested":{}}"#, #"{"oneNested":{}}"#),
  ])
  func keepsZerosThatHavePresence(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: [
    #"{"oneColor":"UNKNOWN"}"#, #"{"optionalColor":"UNKNOWN"}"#, #"{"manyColor":["UNKNOWN"]}"#,
    #"{"mapStringColor":{"key":"UNKNOWN"}}"#, #"{"choiceColor":"UNKNOWN"}"#,
  ])
  func refusesOrIgnoresUnknownEnumNames(_ input: String) throws {
    refused(input)
    try JSONCase(input, "{}").check(AllKinds3.self, ignoringUnknown: true)
  }

  @Test func ignoresUnknownEnumNamesAmongOthers() throws {
    try JSONCase(
      #"{"manyColor":["GREEN","UNKNOWN","BLUE"],"mapStringColor":{"a":"UNKNOWN","b":"BLUE"}}"#,
      #"{"manyColor":["GREEN","BLUE"],"mapStringColor":{"b":"BLUE"}}"#
    ).check(AllKinds3.self, ignoringUnknown: true)
  }
}
