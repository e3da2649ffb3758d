import SwitchboardProtobuf
import TestMessages
import Testing

/// The JSON forms of well-known types, as fields of a message.
@Suite struct WellKnownJSONTests {
  @Test(arguments: [
    JSONCase(#"{"oneTimestamp":"0001-01-01T00:00:00Z"}"#),
    JSONCase(#"{"oneTimestamp":"9999-12-31T23:59:59.999999999Z"}"#),
    JSONCase(#"{"manyTimestamp":["1970-01-01T00:00:00Z","1969-12-31T23:59:59.500Z"]}"#),
    JSONCase(#"{"oneTimestamp":"1993-02-10T00:00:00.000Z"}"#, #"{"oneTimestamp":"1993-02-10T00:00:00Z"}"#),
    JSONCase(#"{"oneTimestamp":"1970-01-01T08:00:01+08:00"}"#, #"{"oneTimestamp":"1970-01-01T00:00:01Z"}"#),
    JSONCase(#"{"oneTimestamp":"1969-12-31T16:00:00-08:00"}"#, #"{"oneTimestamp":"1970-01-01T00:00:00Z"}"#),
    JSONCase(
      #"{"oneTimestamp":"1970-01-01T00:00:00.010000000Z"}"#,
      #"{"oneTimestamp":"1970-01-01T00:00:00.010Z"}"#
    ),
    JSONCase(
      #"{"oneTimestamp":"1970-01-01T00:00:00.00001Z"}"#,
      #"{"oneTimestamp":"1970-01-01T00:00:00.000010Z"}"#
    ),
    JSONCase(#"{"oneTimestamp":"1970-01-01T00:00:00.000000010Z"}"#),
    JSONCase(#"{"oneTimestamp":"2000-02-29T00:00:00Z"}"#),
    JSONCase(#"{"oneTimestamp":"2024-02-29T23:59:59Z"}"#),
    JSONCase(
      #"{"oneTimestamp":"1972-01-01T10:00:20.021\u005a"}"#,
      #"{"oneTimestamp":"1972-01-01T10:00:20.021Z"}"#
    ),
    JSONCase(#"{"oneTimestamp":"0000-12-31T23:00:00-01:00"}"#, #"{"oneTimestamp":"0001-01-01T00:00:00Z"}"#),
    JSONCase(#"{"mapStringTimestamp":{"a":"1970-01-01T00:00:00Z"}}"#),
  ])
  func readsTimestamps(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: [
    "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "0001-01-01T00:00:00", "0001-01-01 00:00:00Z",
    "0001-01-01T00:00:00z", "0001-01-01t00:00:00Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-00:01",
    "1900-02-29T00:00:00Z", "2023-02-29T00:00:00Z", "2023-02-30T00:00:00Z", "2023-04-31T00:00:00Z",
    "2023-00-01T00:00:00Z", "2023-13-01T00:00:00Z", "2023-01-00T00:00:00Z", "2023-01-32T00:00:00Z",
    "2023-01-01T24:00:00Z", "2023-01-01T00:60:00Z", "2023-01-01T00:00:60Z", "2023-01-01T23:59:60Z",
    "2023-01-01T00:00:00.Z", "2023-01-01T00:00:00.0000000000Z", "2023-01-01T00:00:00,5Z",
    "2023-01-01T00:00:00+24:00",
    "2023-01-01T00:00:00+0100", "2023-01-01T00:00:00+01", "2023-01-01T00:00:00+01:60",
    "2023-01-01T00:00:00ZZ",
    " 2023-01-01T00:00:00Z", "2023-01-01T00:00:00Z ", "2023-1-01T00:00:00Z", "-023-01-01T00:00:00Z", "",
    "now",
  ])
  func refusesOtherTimestamps(_ text: String) { refused(#"{"oneTimestamp":"\#(text)"}"#) }

  @Test(arguments: [
    JSONCase(#"{"oneDuration":"-315576000000.999999999s"}"#),
    JSONCase(#"{"oneDuration":"315576000000.999999999s"}"#),
    JSONCase(#"{"manyDuration":["1.500s","-1.500s","0s","-5s","-0.500s"]}"#),
    JSONCase(#"{"oneDuration":"1.000000000s"}"#, #"{"oneDuration":"1s"}"#),
    JSONCase(#"{"oneDuration":"1.01s"}"#, #"{"oneDuration":"1.010s"}"#),
    JSONCase(#"{"oneDuration":"1.00001s"}"#, #"{"oneDuration":"1.000010s"}"#),
    JSONCase(#"{"oneDuration":"1.00000001s"}"#, #"{"oneDuration":"1.000000010s"}"#),
    JSONCase(#"{"oneDuration":"-0s"}"#, #"{"oneDuration":"0s"}"#),
    JSONCase(#"{"oneDuration":"007s"}"#, #"{"oneDuration":"7s"}"#),
  ])
  func readsDurations(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: [
    "1", "-315576000001.000000000s", "315576000001s", "s", "-s", "", "1.s", ".5s", "1.0000000000s", "+1s",
    "1 s", "1S",
    "1s ", " 1s", "1e3s", "--1s", "1m", "1.5.5s", "99999999999999999999999s",
  ])
  func refusesOtherDurations(_ text: String) { refused(#"{"oneDuration":"\#(text)"}"#) }

  @Test(arguments: [
    JSONCase(#"{"oneFieldMask":"foo,barBaz"}"#), JSONCase(#"{"oneFieldMask":""}"#),
    JSONCase(#"{"oneFieldMask":"user.displayName,a1.b2"}"#),
  ])
  func readsFieldMasks(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: ["foo,bar_bar", "foo bar", "foo, bar", ",", "foo,", "é", "a-b", "a[0]"])
  func refusesOtherFieldMasks(_ text: String) { refused(#"{"oneFieldMask":"\#(text)"}"#) }

  @Test(arguments: ["fooBar", "foo_3_bar", "foo__bar", "foo_", "_3", "foo bar", "a,b", "foo_.bar"])
  func refusesToWriteAmbiguousFieldMasks(_ path: String) {
    let message = Google_Protobuf_FieldMask.with { $0.paths = [path] }
    #expect(throws: EncodeError.self) { try message.jsonString() }
  }

  @Test(arguments: [
    JSONCase(#"{"oneStruct":{}}"#),
    JSONCase(
      #"{"oneStruct":{"bool":true,"list":[1234,"5678"],"n":1234.5678,"null":null,"object":{"value":0},"text":"Hello"}}"#
    ),
    JSONCase(#"{"oneStruct":{"listValue":[]}}"#), JSONCase(#"{"oneStruct":{"fields":{}}}"#),
    JSONCase(#"{"oneValue":1}"#), JSONCase(#"{"oneValue":1.5}"#), JSONCase(#"{"oneValue":false}"#),
    JSONCase(#"{"oneValue":"hello"}"#), JSONCase(#"{"oneValue":[0,"hello"]}"#),
    JSONCase(#"{"oneValue":{"value":1}}"#),
    JSONCase(#"{"oneValue":"NaN"}"#), JSONCase(#"{"oneValue":[]}"#), JSONCase(#"{"oneValue":{}}"#),
    JSONCase(#"{"manyValue":[["a"],null]}"#), JSONCase(#"{"manyListValue":[["a"],[]]}"#),
    JSONCase(#"{"manyStruct":[{"a":1}]}"#),
    JSONCase(#"{"mapStringValue":{"a":null,"b":[null]}}"#), JSONCase(#"{"oneEmpty":{},"manyEmpty":[{}]}"#),
  ])
  func readsStructsAndValues(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: [
    #"{"oneStruct":[]}"#, #"{"oneStruct":1}"#, #"{"oneListValue":{}}"#, #"{"oneListValue":1}"#,
    #"{"oneValue":}"#,
    #"{"oneValue":1e400}"#, #"{"oneValue":NaN}"#, #"{"oneValue":[1,]}"#, #"{"oneStruct":{"a":1,"a":2}}"#,
    #"{"oneStruct":{"a":}}"#, #"{"oneEmpty":{"a":1}}"#, #"{"oneEmpty":[]}"#, #"{"oneNullValue":0.5}"#,
    #"{"oneNullValue":"null"}"#,
  ])
  func refusesOtherStructsAndValues(_ input: String) { refused(input) }

  @Test(arguments: [
    JSONCase(
      #"{"wrappedBool":false,"wrappedInt32":0,"wrappedInt64":"0","wrappedUint32":0,"wrappedUint64":"0"}"#
    ),
    JSONCase(#"{"wrappedFloat":0,"wrappedDouble":0,"wrappedString":"","wrappedBytes":""}"#),
    JSONCase(
      #"{"wrappedBool":true,"wrappedInt32":1,"wrappedInt64":"1","wrappedUint32":1,"wrappedUint64":"1"}"#
    ),
    JSONCase(#"{"wrappedFloat":1,"wrappedDouble":"NaN","wrappedString":"1","wrappedBytes":"AQI="}"#),
    JSONCase(#"{"manyWrappedInt32":[0,1],"manyWrappedInt64":["0","1"],"manyWrappedString":["","AQI="]}"#),
    JSONCase(#"{"wrappedInt64":1}"#, #"{"wrappedInt64":"1"}"#),
  ])
  func readsWrappers(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: [
    #"{"wrappedInt32":{"value":1}}"#, #"{"wrappedBool":1}"#, #"{"wrappedString":1}"#,
    #"{"wrappedInt32":2147483648}"#,
    #"{"wrappedBytes":"*"}"#, #"{"wrappedFloat":1e39}"#,
  ])
  func refusesOtherWrappers(_ input: String) { refused(input) }

  @Test func rejectsValuesWithoutAForm() {
    typealias Timestamp = Google_Protobuf_Timestamp
    typealias Duration = Google_Protobuf_Duration
    let messages: [any Message] = [
      Timestamp(seconds: -62_135_596_801), Timestamp(seconds: 253_402_300_800),
      Timestamp(seconds: 0, nanos: -1),
      Timestamp(seconds: 0, nanos: 1_000_000_000), Timestamp(seconds: .min),
      Timestamp(seconds: .max, nanos: .max),
      Duration(seconds: -315_576_000_001), Duration(seconds: 315_576_000_001),
      Duration(seconds: 1, nanos: -1),
      Duration(seconds: -1, nanos: 1), Duration(seconds: 0, nanos: 1_000_000_000),
      Duration(seconds: .min, nanos: .min),
      Google_Protobuf_Value(), Google_Protobuf_Value(.nan), Google_Protobuf_Value(-.infinity),
      Google_Protobuf_ListValue([Google_Protobuf_Value()]),
      Google_Protobuf_Struct(["a": Google_Protobuf_Value()]),
    ]
    for message in messages { #expect(throws: EncodeError.self, "\(message)") { try message.jsonString() } }
  }

  @Test func readsMessagesOnTheirOwn() throws {
    #expect(try Google_Protobuf_Timestamp(jsonString: #""1970-01-01T00:00:01Z""#).seconds == 1)
    #expect(try Google_Protobuf_Value(jsonString: "null").kind == .nullValue(.nullValue))
    #expect(try Google_Protobuf_Int32Value(jsonString: "5").value == 5)
    #expect(try Google_Protobuf_ListValue(jsonString: "[1]").values == [1])
    #expect(try Google_Protobuf_StringValue("a").jsonString() == #""a""#)
    for bad in ["null", "{}"] {
      #expect(throws: DecodeError.self) { try Google_Protobuf_Timestamp(jsonString: bad) }
      #expect(throws: DecodeError.self) { try Google_Protobuf_Int32Value(jsonString: bad) }
    }
    #expect(throws: DecodeError.self) { try Google_Protobuf_Struct(jsonString: "null") }
    #expect(throws: DecodeError.self) { try Google_Protobuf_ListValue(jsonString: "null") }
    #expect(throws: DecodeError.self) { try Google_Protobuf_Any(jsonString: "null") }
  }
}
