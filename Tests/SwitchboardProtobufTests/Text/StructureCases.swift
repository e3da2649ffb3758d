/// Text that tests combinations of fields, for ``Kinds`` and ``Legacy``; libprotobuf gets the same.
enum StructureCases {
  static let kinds = presence + messages + lists + maps + names + any + layout

  private static let presence = [
    "i32: 1 i32: 2", "i32: 0 i32: 0", "i32: 0 i32: 2", "i32: 1 i32: 0", "maybe: 0", "maybe: 0 maybe: 0",
    "text: '' text: 'a'", "text: 'a' text: ''", "first: 1 second: 'a'", "first: 0 first: 0",
    "third {} third {}",
    "third { i32: 1 }", "third: { i32: 1 } first: 0",
  ]

  private static let messages = [
    "child {}", "child: {}", "child < i32: 1 >", "child: < i32: 1 >", "child { i32: 1 >", "child {",
    "child }",
    "child: 1", "child", "child:", "child {} child {}", "child { i32: 1 } child { i64: 1 }",
    "child: { i32: 1, }", "child: { i32: 1; }", "child: { i32: 1,, }", "child: { i32: 1;; }",
  ]

  private static let lists = [
    "numbers: 1 numbers: 2", "numbers: [1, 2, 3]", "numbers: []", "numbers: [1,]", "numbers: [,1]",
    "numbers: [1 2]", "numbers: [1;2]", "numbers: [1,,2]", "numbers: [1", "numbers [1]", "numbers: [[1]]",
    "numbers: 1, numbers: 2; numbers: 3", "numbers: [1] numbers: 2 numbers: [3]",
    "flags: [true, false, t, 0]",
    "reals: [1, .5, inf, -inf, nan, 1f]", "texts: ['a', 'b' 'c']", "texts: ['a' 'b']", "texts: []",
    "children {} children { i32: 2 }", "children: [{ i32: 1 }, < i32: 2 >]", "children [{ i32: 1 }]",
    "children: []", "children []", "children: [1]", "children: [{}", "numbers: [1],,", "numbers: [1];",
  ]

  private static let maps = [
    "counts { key: 'a' value: 1 }", "counts: { key: 'a', value: 1 }",
    "counts { key: 'b' value: 2 } counts { key: 'a' value: 1 }", "counts {}", "counts { value: 1 }",
    "counts { key: 'a' }", "counts { key: 'a' key: 'b' }", "counts { kex: 'a' }", "counts: ['a']",
    "counts: [{ key: 'x' value: 1 }, { key: 'y' value: 2 }]", "counts < key: 'a'; value: 1; >",
    "counts { key: 'é' value: -1 }", "kids { key: 1 value { i32: 1 } } kids { key: -1 value: {} }",
    "kids { key: 1 }", "kids { key: 10 } kids { key: 9 } kids { key: -2 }",
    "colors { key: true value: BLUE } colors { key: false value: 9 }", "colors { key: 1 value: 1 }",
    "colors { key: true }",
  ]

  private static let names = [
    "unknown: 1", "I32: 1", "i32 : 1", "i32:1", "i32 1", "i32", "i32:", "1: 5", "i32: 1 }", "{ i32: 1 }",
    "old_field: 1", "old_field: -1", "old_field: 'a' 'b'", "old_field: { a: 1 b { c: 'x' } }",
    "old_field { a: 1 }", "old_field < a: 1 >", "old_field: < a: 1, >", "old_field: [1, -2]",
    "old_field: [{ a: 1 }, < b: 2 >]", "older: ENUM", "older: -ENUM", "older: -inf", "older: [0.123, 1e-10] ",
    "old_field", "old_field:", "old_field 1", "old_field: 1 2", "old_field: { [a.b]: 1 [c.d] { x: 1 } }",
    "old_field: { ] }", "old_field: {", "old_field: ['a' 'b']", "old_field: 1 old_field: 2", "text 'a'",
  ]

  private static let any = [
    #"any { type_url: "type.googleapis.com/text.Kinds" value: "\010\001" }"#, "any {}",
    "any { [type.googleapis.com/text.Kinds] { i32: 1 } }",
    "any { [type.googleapis.com/text.Kinds]: { i32: 1 } }",
    "any { [type.googleapis.com/text.Nope] {} }", "any { [/text.Kinds] {} }", "any { [text.Kinds] {} }",
    "any { [type.googleapis.com/text.Kinds] {} [type.googleapis.com/text.Kinds] {} }",
    "any { [type.googleapis.com/text.Kinds] { i32: 1 } type_url: 'x' }",
    "any { type_url: 'x' [type.googleapis.com/text.Kinds] { } }",
    "any { [type.googleapis.com/text.Kinds] { any { [type.googleapis.com/text.Kinds] { i32: 3 } } } }",
    "any { [a/text.Kinds/] {} }",
    "any { [ type . googleapis.com / text . Kinds ] {} }", "any { [a/text.Kinds] { i32: } }",
    "any { [a/text.Kinds] 1 }", "[a.b]: 1", "[a.b/text.Kinds] {}", "[]: 1",
    "any { [a/text.Kinds] { unknown: 1 } }",
  ]

  private static let layout = [
    "", " ", "# only", "#", ",", ";", "i32: 1,i64: 2;u32: 3", "i32: 1 , ; i64: 2", "i32: 1 # c\ni64: 2#",
    "\ti32:\n\n1\r\n", "i32\u{B}:\u{C}1", "i32: 1 \u{0}", "é: 1", "i32: é", "real: 1.5real: 2",
    "\u{FEFF}i32: 1",
  ]

  static let legacy = [
    "id: 1", "", "id: 0", "id: 1 id: 1", "id: 1 Data { a: 1 }", "Data: { a: 1 }", "Data {}", "DATA {}",
    "MultiWord { a: 1 } MultiWord { a: 2 }", "MultiWord: [{ a: 1 }, <>]", "Multiword {}", "Data {} Data {}",
    "closed: ONE", "closed: 1", "closed: 3", "closed: THREE", "closed: 0", "closed: ONE closed: ONE",
    "text: 'é'", "text: 'a' text: 'a'", "[text.note]: 'x'", "[text.note]: 'x' [text.note]: 'y'",
    "[ text.note ]: 'x'", "[text . note]: 'x'", "[text.note#c\n]: 'x'", "[text.nope]: 1",
    "[note]: 'x'", "[.text.note]: 'x'", "note: 'x'", "[text.note: 'x'", "[text.note]",
    "[text.codes]: 1 [text.codes]: 2", "[text.codes]: [1, 2]", "[text.codes] [1]", "[text.extra] { a: 1 }",
    "[text.extra]: { a: 1 }", "[text.Extra] { a: 1 }", "[text.codes]: 1, [text.note]: 'z'; id: 5",
    "[text.nested] { id: 1 [text.nested] { [text.codes]: 5 } }", "set { [text.SetItem] { a: 1 } }",
    "set { [text.outside] { a: 1 } }", "set { [text.SetItem] { a: 1 } [text.outside] { } }",
    "set { [text.SetItem] { } [text.SetItem] { } }", "[text.SetItem] { a: 1 }", "set { [text.note]: 'x' }",
    "set { a: 1 }", "[text.codes]: [1, 2] [text.codes]: 3 Data { a: 7 } [text.extra] { a: 8 }",
  ]
}
