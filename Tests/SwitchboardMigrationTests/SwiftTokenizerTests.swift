import Testing

@testable import SwitchboardMigration

@Suite struct SwiftTokenizerTests {
  /// The tokens, with a line break before those that begin a line.
  private func tokens(_ text: String) -> String {
    let source = SwiftSource(Array(text.utf8))
    return source.tokens.indices.map { index in
      (source.tokens[index].beginsLine && index > 0 ? "\n" : "")
        + String(decoding: source[index], as: UTF8.self)
    }.joined(separator: " ")
  }

  @Test(arguments: [
    ("let x = 1.5", "let x = 1.5"), ("a // GRPC\nb", "a \nb"), ("a /* b /* GRPC */ c */ d", "a d"),
    ("a /* GRPC", "a"), ("f() -> `in`", "f ( ) -> in"), ("#!/usr/bin/swift GRPC\na", "\na"),
    ("#if canImport(GRPC)", "# if canImport ( GRPC )"), ("a.b?.c!", "a . b ? . c !"),
    ("\u{E9}t\u{E9} = 1", "\u{E9}t\u{E9} = 1"),
    ("1...2", "1 . . . 2"), ("$0.x", "$0 . x"),
  ]) func splitsCode(_ text: String, _ expected: String) { #expect(tokens(text) == expected.trimmed) }

  @Test(arguments: [
    (#""GRPC" x"#, #""GRPC" x"#), (#""a\"GRPC" x"#, #""a\"GRPC" x"#),
    (#""a\(b + "GRPC")c" x"#, #""a\ ( b + "GRPC" ) c" x"#),
    (##"#"a"b\(c)"# x"##, ##"#"a"b\(c)"# x"##), (##"#"a\#(b)c"# x"##, ##"#"a\# ( b ) c"# x"##),
    ("\"\"\"\na \"GRPC\" b\n\"\"\" x", "\"\"\"\na \"GRPC\" b\n\"\"\" x"),
    ("\"open\nx", "\"open \nx"), ("#/a\"b/# x", "#/a\"b/# x"), ("f(/a\"b/) x", "f ( /a\"b/ ) x"),
    ("a / b / c", "a / b / c"),
    (#""a\(f("\(g)"))b" x"#, #""a\ ( f ( "\ ( g ) " ) ) b" x"#),
  ]) func knowsStrings(_ text: String, _ expected: String) { #expect(tokens(text) == expected) }

  @Test func bracketsKnowEachOther() {
    let source = SwiftSource(Array("f(a[0], { })".utf8))
    #expect(source.partner(of: 1) == source.tokens.count - 1)
    #expect(source.partner(of: 3) == 5)
    #expect(SwiftSource(Array(")(".utf8)).partner(of: 0) == nil)
  }

  @Test func linesAreCounted() {
    let source = SwiftSource(Array("a\n  b\r\nc".utf8))
    #expect(source.tokens.map { source.line(of: $0.range.lowerBound) } == [1, 2, 3])
    #expect(source.indentation(of: source.tokens[1].range.lowerBound) == "  ")
  }
}

extension String {
  /// Without a line break at the beginning, where the first token is not on the first line.
  fileprivate var trimmed: String { hasPrefix("\n") ? String(dropFirst()) : self }
}
