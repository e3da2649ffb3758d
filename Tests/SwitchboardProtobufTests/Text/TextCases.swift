import SwitchboardProtobuf

/// Text and bytes for both sides.
enum TextCases {
  static let types: TypeRegistry = [Kinds.self]

  /// Text for ``Kinds``.
  static var kinds: [String] {
    pairs(["i32", "u32", "s64", "u64", "f32", "real", "wide"], numbers)
      + pairs(["flag"], flags) + pairs(["color"], colors)
      + pairs(["text", "data", "texts", "second"], strings) + StructureCases.kinds
  }

  /// Text for which we intentionally differ from libprotobuf 3.21: later versions and the conformance suite reject
  /// invalid Unicode and escapes that do not fit a byte, and accept an empty list for a reserved name.
  static var refused: [String] {
    pairs(
      ["text", "data", "texts"],
      [#""\400""#, #""\777""#, #""\ud83d\ude00""#, #""\ud800""#, #""\udc00""#]
    )
      + pairs(["text", "data"], [#""\U00110000""#, #""\U0000d800""#, #""\U0000d801\udc37""#])
      + pairs(["text", "texts", "second"], [#""\300""#, #""\xc0""#, #""\377""#])
  }

  private static func pairs(_ names: [String], _ values: [String]) -> [String] {
    names.flatMap { name in values.map { "\(name): \($0)" } }
  }

  private static let numbers = [
    "0", "1", "-1", "00", "01", "-01", "08", "0x1", "0X1F", "0x", "-0x80000000", "0x80000000", "2147483647",
    "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296", "9223372036854775807",
    "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
    "017777777777", "020000000000", "0x7fffffffffffffff", "01777777777777777777777",
    "02000000000000000000000",
    "0x10000000000000000", "99999999999999999999999", "1.0", "1f", "1F", "1.5f", "1e3", "1e", "1e+", "1E-3",
    ".5", "5.", "5.e2", ".", "..", "1..2", "1.2.3", "-.5", "- 5", "- #c\n 5", "--5", "+5", "1a", "0x1g",
    "0b1", "1_", "inf", "-inf", "INF", "Infinity", "-infinity", "nan", "-nan", "NaN", "nanx", "1e400",
    "-1e400", "1e18446744073709551616", "1e-18446744073709551616", "-1e-50", "-0", "-0f", "0f",
    "3.4028235e38", "3.4028235e39", "3.40282357e38", "3.4028236e38", "1.17549e-39", "012", "-012", "-0x1",
    "123 456", "abc", "true", "\"x\"", "1,", "1;", "1,,", "1;;", "1 ;,", "[1]", "[1,2]", "[]", "<>", "{}", "",
    "1.5F2", "0.1", "1e5f", "0e0", "0e", "00.5", "01e5", "0xf", "0x1.5", "1-2", "1\"x\"", "5#c", "1 #c",
    "3.123456789123456789", "16777217",
  ]

  private static let flags = [
    "true", "True", "t", "TRUE", "tRUE", "1", "01", "0x1", "2", "-1", "-0", "0", "false", "False", "f", "F",
    "T", "yes", "00", "1.0", "0x0", "\"true\"",
  ]

  private static let colors = [
    "RED", "GREEN", "BELOW", "red", "0", "1", "-1", "7", "-7", "0x2", "02", "2147483647", "2147483648",
    "-2147483648", "-2147483649", "1.0", "\"RED\"", "-RED", "- 1",
  ]

  private static let strings = [
    #""a""#, "'a'", #""a" "b""#, "\"a\"'b'#c\n\"c\"", #""it\'s""#, "'\"'", #""\a\b\f\n\r\t\v\?\\\'\"""#,
    #""\101""#, #""\1""#, #""\12""#, #""\1234""#, #""\8""#, #""\x41""#, #""\x4""#, #""\x4g""#, #""\xg""#,
    #""\x""#, #""\x414""#, #""\X41""#, #""\u0041""#, #""\u041""#, #""\u1234""#, #""\U0001F600""#,
    #""\U0010ffff""#, #""\U0001F60""#, #""\q""#, "\"a\nb\"", "\"a", "\"", "'", "\"a\\", "\"\\",
    "\"tab\there\"", "\"é\"", "\"日本\"", #""\303\251""#, #""\xc3\xa9""#, "a", "1", #""a""b""#, #"'a'"b""#,
    #""a", "b""#, #""a" 1"#, "\"a\u{1}b\"", "\"a\u{0}b\"", #""\0""#, #""\000""#, "\"\u{7F}\"", #"["a"]"#,
    #""\u00e9""#, "\"a\rb\"", #""a" , "#, #""a"b: 1"#, #""a"i32: 1"#,
  ]
}
