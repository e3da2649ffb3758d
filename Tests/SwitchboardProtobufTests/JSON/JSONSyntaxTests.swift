import SwitchboardProtobuf
import TestMessages
import Testing

/// The grammar, for any message.
@Suite struct JSONSyntaxTests {
  @Test(arguments: [
    JSONCase("{}"),
    JSONCase(" \t\r\n{ \n } \n", "{}"),
    JSONCase(#"{"oneInt32":1,"oneString":"a"}"#),
    JSONCase(#"{ "oneInt32" : 1 , "oneString" : "a" }"#, #"{"oneInt32":1,"oneString":"a"}"#),
    JSONCase("{\n\"oneInt32\"\n:\n1\n,\n\"oneString\"\n:\n\"a\"\n}\n", #"{"oneInt32":1,"oneString":"a"}"#),
    JSONCase(#"{"manyInt32":[ 1 , 2 ]}"#, #"{"manyInt32":[1,2]}"#),
    JSONCase(#"{"manyInt32":[ ]}"#, "{}"),
    JSONCase(#"{"one\u0049nt32":1}"#, #"{"oneInt32":1}"#),
  ])
  func readsSpaceWhereverItIsAllowed(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  @Test(arguments: [
    "", " ", "null", "true", "1", "\"a\"", "[]", "{", "}", "{]", "[{}]", "{}{}", "{} x", "{},", "{}\0",
    "\u{FEFF}{}",
    #"{"oneInt32":1,}"#, #"{"oneInt32":1 ,}"#, #"{"oneInt32":1 , }"#, "{\"oneInt32\":1,\n}",
    #"{,"oneInt32":1}"#,
    #"{"oneInt32":1,,"oneBool":true}"#, #"{"oneInt32":1 "oneBool":true}"#, #"{"oneInt32" 1}"#,
    #"{"oneInt32"}"#,
    #"{"oneInt32":}"#, #"{"oneInt32":1"#, #"{"oneInt32""#, #"{"oneInt32"#, #"{oneInt32:1}"#,
    #"{'oneInt32':1}"#,
    #"{"oneString":'a'}"#, #"{1:1}"#, #"{null:1}"#, "{/* c */}", "{\n// c\n\"oneInt32\":1}", "{\u{A0}}",
    "{\u{0B}}",
    #"{"manyInt32":[1,]}"#, #"{"manyInt32":[1 , ]}"#, #"{"manyInt32":[,1]}"#, #"{"manyInt32":[1 2]}"#,
    #"{"manyInt32":[1}"#, #"{"manyInt32":[1"#, #"{"manyInt32":["#, #"{"manyInt32":1]}"#,
    #"{"oneBool":tru}"#, #"{"oneBool":truee}"#, #"{"oneBool":nul}"#, #"{"oneBool":nulll}"#,
    #"{"oneBool":True}"#,
  ])
  func rejectsInvalidJSON(_ input: String) { refused(input) }

  @Test(arguments: [
    JSONCase(#"{"oneString":"Hello world!"}"#),
    JSONCase(#"{"oneString":"\"\\\/\b\f\n\r\t"}"#, #"{"oneString":"\"\\/\b\f\n\r\t"}"#),
    JSONCase(#"{"oneString":"\u8C37\u6b4c"}"#, #"{"oneString":"谷歌"}"#),
    JSONCase(#"{"oneString":"\uD83D\uDE01"}"#, #"{"oneString":"😁"}"#),
    JSONCase(#"{"oneString":"谷歌 😁 é \u2028"}"#, "{\"oneString\":\"谷歌 😁 é \u{2028}\"}"),
    JSONCase(#"{"oneString":"a\u0000b\u001f\u000B"}"#, #"{"oneString":"a\u0000b\u001f\u000b"}"#),
    JSONCase(#"{"oneString":"\u007f\uffff\udbff\udfff"}"#, "{\"oneString\":\"\u{7f}\u{ffff}\u{10ffff}\"}"),
    JSONCase(#"{"oneString":"\\u0041"}"#),
  ])
  func replacesEscapes(_ json: JSONCase) throws { try json.check(AllKinds3.self) }

  /// Text is searched eight bytes at a time, from any place in the input.
  @Test func findsSpecialBytesAtEachPlace() throws {
    for length in 0..<20 {
      for place in 0...length {
        let (before, after) = (
          String(repeating: "é", count: place), String(repeating: "z", count: length - place)
        )
        for (special, text) in [("", ""), (#"\""#, "\""), (#"\\"#, "\\"), (#"\u0001"#, "\u{1}"), (" ", " ")] {
          let message = try AllKinds3(jsonString: #"{"oneString":"\#(before)\#(special)\#(after)"}"#)
          #expect(message.oneString == before + text + after)
        }
        refused(#"{"oneString":"\#(before)\#u{1F}\#(after)"}"#)
        refused(#"{"oneString":"\#(before)\#(after)"#)
      }
    }
  }

  @Test(arguments: [
    #""\uD800""#, #""\uDC00""#, #""\uDE01\uD83D""#, #""\uD83Dx""#, #""\uD83D\n""#, #""\uD83D\u0041""#,
    #""\U8C37""#, #""\uXXXX""#, #""\u8C3""#, #""\u8C3"#, #""\u"#, #""\"#, #""abc\"#, #""abc"#, #""\x41""#,
    #""\'""#,
    #""\a""#, "\"\n\"", "\"\t\"", "\"\u{1f}\"", "\"\0\"", #""\u00 1""#, #""\u+041""#,
  ])
  func refusesBrokenStrings(_ value: String) {
    refused(#"{"oneString":\#(value)}"#)
    refused(#"{"oneString":\#(value)"#)
    // They are not skipped with an unknown field either, or taken for a name.
    var options = JSONDecodingOptions()
    options.ignoreUnknownFields = true
    #expect(throws: DecodeError.self) {
      try AllKinds3(jsonString: #"{"unknown":\#(value)}"#, options: options)
    }
    #expect(throws: DecodeError.self) {
      try AllKinds3(jsonString: #"{\#(value):1}"#, options: options)
    }
  }

  @Test(
    arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE8, 0xB0], [0xF5, 0x80, 0x80, 0x80], [0x80]]
      as [[UInt8]]
  )
  func rejectsInvalidUTF8(_ bytes: [UInt8]) {
    for (before, after) in [
      ("{\"oneString\":\"", "\"}"), ("{\"unknown\":\"", "\"}"), ("{\"", "\":1}"), ("{} ", ""),
    ] {
      var options = JSONDecodingOptions()
      options.ignoreUnknownFields = true
      #expect(throws: DecodeError.self) {
        try AllKinds3(jsonUTF8Bytes: Array(before.utf8) + bytes + Array(after.utf8), options: options)
      }
    }
  }
}
