import SwitchboardProtobuf
import TestMessages
import Testing

/// The values of scalars: which spellings are accepted and which are written.
@Suite struct JSONScalarTests {
  @Test(arguments: [
    JSONCase(#"{"oneInt32":2147483647}"#), JSONCase(#"{"oneInt32":-2147483648}"#),
    JSONCase(#"{"oneUint32":4294967295}"#),
    JSONCase(#"{"oneInt64":"9223372036854775807"}"#), JSONCase(#"{"oneInt64":"-9223372036854775808"}"#),
    JSONCase(#"{"oneUint64":"18446744073709551615"}"#),
    JSONCase(
      #"{"oneSint32":-1,"oneSint64":"-2","oneFixed32":3,"oneFixed64":"4","oneSfixed32":-5,"oneSfixed64":"-6"}"#
    ),
    JSONCase(#"{"oneInt64":9223372036854774784}"#, #"{"oneInt64":"9223372036854774784"}"#),
    JSONCase(#"{"oneInt64":-9223372036854775808}"#, #"{"oneInt64":"-9223372036854775808"}"#),
    JSONCase(#"{"oneUint64":18446744073709549568}"#, #"{"oneUint64":"18446744073709549568"}"#),
    JSONCase(#"{"oneInt32":"2147483647"}"#, #"{"oneInt32":2147483647}"#),
    JSONCase(#"{"oneInt32":"2\u003147483647"}"#, #"{"oneInt32":2147483647}"#),
    JSONCase(#"{"oneInt32":100000.000}"#, #"{"oneInt32":100000}"#),
    JSONCase(#"{"oneInt32":1e5}"#, #"{"oneInt32":100000}"#),
    JSONCase(#"{"oneInt32":"1e5"}"#, #"{"oneInt32":100000}"#),
    JSONCase(#"{"oneInt32":1E+5}"#, #"{"oneInt32":100000}"#),
    JSONCase(#"{"oneInt32":100000000e-5}"#, #"{"oneInt32":1000}"#),
    JSONCase(#"{"oneInt32":0.00012e5}"#, #"{"oneInt32":12}"#),
    JSONCase(#"{"oneInt32":2.147483647e9}"#, #"{"oneInt32":2147483647}"#),
    JSONCase(#"{"oneInt32":-2.147483648e9}"#, #"{"oneInt32":-2147483648}"#),
    JSONCase(#"{"oneUint32":4.294967295e9}"#, #"{"oneUint32":4294967295}"#),
    JSONCase(#"{"oneUint64":18446744073709551615.000}"#, #"{"oneUint64":"18446744073709551615"}"#),
    JSONCase(#"{"oneInt64":-9.223372036854775808e18}"#, #"{"oneInt64":"-9223372036854775808"}"#),
    JSONCase(#"{"oneInt32":0e999999999999999999999}"#, "{}"), JSONCase(#"{"oneInt32":-0}"#, "{}"),
    JSONCase(#"{"oneUint32":-0.0}"#, "{}"), JSONCase(#"{"oneInt32":0.000}"#, "{}"),
  ])
  func readsIntegers(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: [
    #""oneInt32":2147483648"#, #""oneInt32":-2147483649"#, #""oneUint32":4294967296"#, #""oneUint32":-1"#,
    #""oneInt64":"9223372036854775808""#, #""oneInt64":"-9223372036854775809""#, #""oneUint64":"-1""#,
    #""oneUint64":"18446744073709551616""#, #""oneUint64":184467440737095516150"#,
    #""oneUint64":18446744073709551615.5"#, #""oneUint64":100000000000000000000000000000"#,
    #""oneInt32":0.5"#, #""oneUint32":0.5"#, #""oneInt64":"0.5""#, #""oneUint64":"0.5""#, #""oneInt32":1e-1"#,
    #""oneInt32":1e10"#, #""oneInt32":1e999999999999999999999"#, #""oneInt32":1e-999999999999999999999"#,
    #""oneInt32":"3x3""#, #""oneUint32":"3x3""#, #""oneInt64":"3x3""#, #""oneUint64":"3x3""#,
    #""oneInt32":"x""#,
    #""oneInt32":+1"#, #""oneInt32":"+1""#, #""oneInt32":01"#, #""oneInt32":-01"#, #""oneInt32":00"#,
    #""oneInt32":- 1"#,
    #""oneInt32":" 1""#, #""oneInt32":"1 ""#, #""oneInt32":"""#, #""oneInt32":"\n1""#,
    #""oneInt32":"1\u0020""#,
    #""oneInt32":1."#, #""oneInt32":.5"#, #""oneInt32":1e"#, #""oneInt32":1e+"#, #""oneInt32":-"#,
    #""oneInt32":0x10"#,
    #""oneInt32":"0x10""#, #""oneInt32":true"#, #""oneInt32":[1]"#, #""oneInt32":{}"#, #""oneInt32":"NaN""#,
    #""oneInt32":1_000"#, #""oneInt32":1,000"#, #""oneInt32":"null""#, #""oneInt32":"1""2""#,
  ])
  func refusesOtherIntegers(_ member: String) { refused("{\(member)}") }

  @Test(arguments: [
    JSONCase(#"{"oneBool":true}"#), JSONCase(#"{"oneBool":false}"#, "{}"),
    JSONCase(#"{"optionalBool":false}"#),
  ])
  func readsBooleans(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: ["0", "1", "True", "False", "TRUE", "FALSE", #""true""#, #""false""#, "t", "[]"])
  func refusesOtherBooleans(_ value: String) { refused(#"{"oneBool":\#(value)}"#) }

  @Test(arguments: [
    JSONCase(#"{"oneFloat":1.175494e-38}"#, #"{"oneFloat":1.175494e-38}"#),
    JSONCase(#"{"oneFloat":3.402823e+38}"#), JSONCase(#"{"oneFloat":-3.402823e+38}"#),
    JSONCase(#"{"oneFloat":"1"}"#, #"{"oneFloat":1}"#), JSONCase(#"{"oneFloat":0.1}"#),
    JSONCase(#"{"oneFloat":1e-45}"#),
    // The largest value in its shortest form, and the last that is rounded down to it.
    JSONCase(#"{"oneFloat":3.4028235e+38}"#),
    JSONCase(#"{"oneFloat":3.4028235677973365e38}"#, #"{"oneFloat":3.4028235e+38}"#),
    JSONCase(#"{"oneFloat":"NaN"}"#), JSONCase(#"{"oneFloat":"Infinity"}"#),
    JSONCase(#"{"oneFloat":"-Infinity"}"#),
    JSONCase(#"{"oneFloat":"\u004eaN"}"#, #"{"oneFloat":"NaN"}"#),
    JSONCase(#"{"oneFloat":1e-60}"#, "{}"), JSONCase(#"{"oneFloat":-1e-60}"#, #"{"oneFloat":-0}"#),
    JSONCase(#"{"oneDouble":2.22507e-308}"#), JSONCase(#"{"oneDouble":-1.79769e+308}"#),
    JSONCase(#"{"oneDouble":1.7976931348623157e+308}"#), JSONCase(#"{"oneDouble":5e-324}"#),
    JSONCase(#"{"oneDouble":-0}"#), JSONCase(#"{"oneDouble":-0.0}"#, #"{"oneDouble":-0}"#),
    JSONCase(#"{"oneDouble":0.1}"#), JSONCase(#"{"oneDouble":1.0}"#, #"{"oneDouble":1}"#),
    JSONCase(#"{"oneDouble":1e25}"#, #"{"oneDouble":1e+25}"#), JSONCase(#"{"oneDouble":123456789.125}"#),
    JSONCase(#"{"oneDouble":9007199254740993}"#, #"{"oneDouble":9007199254740992}"#),
    JSONCase(#"{"oneDouble":0.30000000000000004}"#),
    JSONCase(#"{"oneDouble":123456789012345678901234567890}"#, #"{"oneDouble":1.2345678901234568e+29}"#),
    JSONCase(#"{"oneDouble":"NaN"}"#), JSONCase(#"{"oneDouble":"Infinity"}"#),
    JSONCase(#"{"oneDouble":"-Infinity"}"#),
  ])
  func readsFloatingPoint(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: [
    "-3.502823e+38", "3.502823e+38", "3.4028235677973367e38", "1e400", "NaN", "Infinity", "-Infinity",
    #""nan""#,
    #""inf""#, #""+Infinity""#, #""INFINITY""#, #""0x1p3""#, #""""#, #"" 1""#, #""1 ""#, "true", "[]", "1.e1",
    ".1", "+1",
    "1e5.5",
  ])
  func refusesOtherFloats(_ value: String) { refused(#"{"oneFloat":\#(value)}"#) }

  @Test(arguments: [
    "-1.89769e+308", "1.89769e+308", "1e400", "NaN", "Infinity", "-Infinity", #""1e400""#, #""a""#,
  ])
  func refusesOtherDoubles(_ value: String) { refused(#"{"oneDouble":\#(value)}"#) }

  @Test func writesEveryNaNTheSame() throws {
    for bits: UInt32 in [0x7FA1_2345, 0xFFB5_4321, 0x7FC0_0000] {
      let message = AllKinds3.with { $0.oneFloat = Float(bitPattern: bits) }
      #expect(try message.jsonString() == #"{"oneFloat":"NaN"}"#)
    }
    let message = AllKinds3.with { $0.oneDouble = Double(bitPattern: 0xFFFB_CBA9_8765_4321) }
    #expect(try message.jsonString() == #"{"oneDouble":"NaN"}"#)
  }

  @Test(arguments: [
    JSONCase(#"{"oneBytes":"AQI="}"#), JSONCase(#"{"oneBytes":"AQI"}"#, #"{"oneBytes":"AQI="}"#),
    JSONCase(#"{"oneBytes":"-_"}"#, #"{"oneBytes":"+w=="}"#), JSONCase(#"{"oneBytes":"+/+/"}"#),
    JSONCase(#"{"oneBytes":"-_-_"}"#, #"{"oneBytes":"+/+/"}"#),
    JSONCase(#"{"oneBytes":"\u0041Q=="}"#, #"{"oneBytes":"AQ=="}"#),
    JSONCase(#"{"oneBytes":"\/\/8"}"#, #"{"oneBytes":"//8="}"#), JSONCase(#"{"oneBytes":""}"#, "{}"),
    JSONCase(#"{"optionalBytes":""}"#),
  ])
  func readsBytes(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: [
    #""A""#, #""AAAAA""#, #""AQ=""#, #""AQI==""#, #""=""#, #""====""#, #""A===""#, #""A Q=""#, #""AQ==\n""#,
    #""A=Q=""#, #""AQI*""#, #""é""#, "1", "[1]",
  ])
  func refusesOtherBytes(_ value: String) { refused(#"{"oneBytes":\#(value)}"#) }

  @Test(arguments: [
    JSONCase(#"{"oneColor":"BLUE"}"#), JSONCase(#"{"oneColor":"RED"}"#, "{}"),
    JSONCase(#"{"oneColor":"NEGATIVE"}"#),
    JSONCase(#"{"oneColor":0}"#, "{}"), JSONCase(#"{"oneColor":1}"#, #"{"oneColor":"GREEN"}"#),
    JSONCase(#"{"oneColor":-1}"#, #"{"oneColor":"NEGATIVE"}"#),
    JSONCase(#"{"oneColor":1.0}"#, #"{"oneColor":"GREEN"}"#),
    JSONCase(#"{"oneColor":123}"#), JSONCase(#"{"oneColor":"\u0042LUE"}"#, #"{"oneColor":"BLUE"}"#),
    JSONCase(#"{"oneAliased":"THIRD"}"#),
    JSONCase(#"{"oneAliased":"ALSO_THIRD"}"#, #"{"oneAliased":"THIRD"}"#),
    JSONCase(#"{"oneAliased":"third"}"#, #"{"oneAliased":"THIRD"}"#),
    JSONCase(#"{"oneAliased":"Third"}"#, #"{"oneAliased":"THIRD"}"#),
    JSONCase(#"{"oneAliased":2}"#, #"{"oneAliased":"THIRD"}"#),
  ])
  func readsEnums(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: [
    "BLUE", #""blue""#, #""PURPLE""#, #""""#, #""1""#, "1.5", "2147483648", "true", "[]", "{}",
  ])
  func refusesOtherEnums(_ value: String) { refused(#"{"oneColor":\#(value)}"#) }

  @Test func refusesNumbersThatAClosedEnumDoesNotHave() throws {
    refused(#"{"oneColor":123}"#, as: AllKinds2.self)
    try JSONCase(#"{"oneColor":123}"#, "{}").check(AllKinds2.self, ignoringUnknown: true)
  }
}
