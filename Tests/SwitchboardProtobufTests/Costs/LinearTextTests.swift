import SwitchboardProtobuf
import TestMessages
import Testing

/// JSON and text that our writers never produce but attackers may send, so ``LinearDecodingTests`` does not cover it.
@Suite(.needsCosts) struct LinearTextTests {
  private typealias Input = (name: String, text: @Sendable (Int) -> String)

  // MARK: JSON

  private static let json: [Input] = [
    ("nulls", { "{\"manyNested\":[\(list($0, "{\"a\":null,\"outer\":null}"))]}" }),
    ("a null twice", { members($0, "\"oneInt32\":null") }),
    ("unknown numbers", { members($0, "\"x\":-1.5e3") }),
    ("unknown strings", { members($0, "\"x\":\"\\u00e9\\n\"") }),
    ("unknown names with escapes", { members($0, "\"\\u0078\":true") }),
    ("unknown objects", { members($0, "\"x\":{\"y\":[{},[],null]}") }),
    ("an unknown array", { "{\"x\":[\(list($0, "[1,{\"a\":2}]"))]}" }),
    ("unknown arrays in each other", { "{\"x\":\(nest(depth($0), "[", "0", "]"))}" }),
    ("unknown objects in each other", { "{\"x\":\(nest(depth($0), "{\"x\":", "0", "}"))}" }),
    ("white space", { "{\(text($0, " \n\t\r")) }" }),
    ("a long name", { "{\"\(text($0, "name"))\":1}" }),
    ("a string", { "{\"oneString\":\"\(text($0, "plain"))\"}" }),
    ("a string of escapes", { "{\"oneString\":\"\(text($0, "\\u00e9\\ud83d\\ude00\\t"))\"}" }),
    ("a string of combining characters", { "{\"oneString\":\"a\(text($0, "\u{301}\u{316}"))\"}" }),
    ("bytes", { "{\"oneBytes\":\"\(text($0, "QUJD"))\"}" }),
    ("bytes of escapes", { "{\"oneBytes\":\"\(text($0, "\\u0051UJD"))\"}" }),
    ("zeros of an integer", { "{\"oneInt32\":1.\(text($0, "0"))}" }),
    ("digits of an integer", { "{\"oneInt64\":\(text($0, "9"))}" }),
    ("digits of an integer in quotes", { "{\"oneInt64\":\"\(text($0, "\\u0031"))\"}" }),
    ("digits of an exponent", { "{\"oneInt64\":1e\(text($0, "9"))}" }),
    ("digits of a double", { "{\"oneDouble\":0.\(text($0, "123456789"))}" }),
    ("digits of a float", { "{\"oneFloat\":0.\(text($0, "0"))1}" }),
    ("digits of a float in quotes", { "{\"oneFloat\":\"1.\(text($0, "7"))\"}" }),
    ("keys of a map", { "{\"mapStringString\":{\(list($0, { "\"k\(1000 + $0)\":\"v\"" }))}}" }),
    ("keys with escapes", { "{\"mapStringString\":{\(list($0, { "\"\\u006b\(1000 + $0)\":\"v\"" }))}}" }),
    ("numbers for keys", { "{\"mapInt32Int32\":{\(list($0, { "\"\(1000 + $0).0\":1" }))}}" }),
    ("names of unknown values of an enum", { "{\"manyColor\":[\(list($0, "\"PUCE\""))]}" }),
    ("digits of a time", { "{\"oneTimestamp\":\"1970-01-01T00:00:00.\(text($0, "0"))Z\"}" }),
    ("digits of a duration", { "{\"oneDuration\":\"1.\(text($0, "0"))s\"}" }),
    ("paths of a mask", { "{\"oneFieldMask\":\"\(list($0, "a.bC"))\"}" }),
    ("parts of a path", { "{\"oneFieldMask\":\"a\(text($0, ".bC"))\"}" }),
    ("an object", { "{\"oneStruct\":{\(list($0, { "\"k\(1000 + $0)\":[1,\"two\",{}]" }))}}" }),
    ("an object in objects", { "{\"oneStruct\":\(nest(depth($0), "{\"x\":", "0", "}"))}" }),
    ("an array in arrays", { "{\"oneValue\":\(nest(depth($0), "[", "0", "]"))}" }),
    (
      "an Any with its type first",
      { "{\"oneAny\":{\(type("Struct")),\"value\":{\(list($0, { "\"k\(1000 + $0)\":1" }))}}}" }
    ),
    (
      "an Any with its type last",
      { "{\"oneAny\":{\"value\":{\(list($0, { "\"k\(1000 + $0)\":1" }))},\(type("Struct"))}}" }
    ),
    ("Anys with their types last", { "{\"manyAny\":[\(list($0, "{\"value\":{},\(type("Empty"))}"))]}" }),
    ("an unknown type", { "{\"oneAny\":{\"@type\":\"\(text($0, "a/"))\"}}" }),
    ("text behind the message", { "{}\(text($0, " \n")) x" }),
    ("an error at the end", { "{\"manyInt32\":[\(text($0, "1,\n"))x]}" }),
    (
      "an error within",
      { "{\"manyNested\":[\(text($0, "{},"))\(nest(depth($0), "{\"outer\":{\"oneNested\":", "x", "}}"))]}" }
    ),
  ]

  /// Bytes that are not messages, which must not take longer to detect.
  private static let refused: Set<String> = [
    "digits of an integer", "digits of an integer in quotes", "digits of an exponent", "digits of a time",
    "digits of a duration", "a null twice",
    "an unknown type", "text behind the message", "an error at the end", "an error within", "digits",
    "a long URL",
  ]

  @Test(arguments: json.indices) func readsJSONInLinearTime(_ index: Int) throws {
    let input = Self.json[index]
    var options = JSONDecodingOptions()
    options.ignoreUnknownFields = true
    let message = try? AllKinds3(jsonString: input.text(800), options: options)
    #expect((message == nil) == Self.refused.contains(input.name))
    let bytes = { Array(input.text($0).utf8) }
    try CostCheck.check("JSON: \(input.name)", items: 400, bytes) { bytes in
      _ = try AllKinds3(jsonUTF8Bytes: bytes, options: options)
    }
  }

  /// An `Any` in an `Any` must be read to find its type, and encoded to be packed. That cost is multiplied by the
  /// levels, at most 100; the search for types is not.
  @Test func searchesForTypesOnceAtAllLevels() throws {
    func input(_ levels: Int) -> [UInt8] {
      let open = String(repeating: "{\"value\":", count: levels)
      let close = String(repeating: ",\(Self.type("Any"))}", count: levels)
      return Array("\(open){\"value\":{\(Self.list(300, "\"k\":1"))},\(Self.type("Empty"))}\(close)".utf8)
    }
    // It is rejected at its innermost level, because no message has a field `k`: only the search is counted.
    let costs = [10, 80].map { levels in
      Cost.of { _ = try? Google_Protobuf_Any(jsonUTF8Bytes: input(levels)) }.cost.allocated
    }
    #expect(costs[1] < 8 * costs[0])
  }

  // MARK: Text

  private static let plain: [Input] = [
    ("comments", { text($0, "# nothing\n") }),
    ("white space", { text($0, " \n\t\r") }),
    ("separators", { text($0, "many_int32: 1; many_int32: 2, ") }),
    ("a list", { "many_int32: [\(list($0, "0x1"))]" }),
    ("lists", { text($0, "many_int32: [1] many_int32: [] ") }),
    ("a list of messages", { "many_nested: [\(list($0, "<a: 1>"))]" }),
    ("a string", { "one_string: '\(text($0, "plain"))'" }),
    ("the parts of a string", { "one_string: \(text($0, "'a' \"b\" "))" }),
    ("escapes", { "one_string: '\(text($0, "\\303\\251\\u00e9\\x41\\n"))'" }),
    ("bytes", { "one_bytes: '\(text($0, "\\377\\xff"))'" }),
    ("digits", { "one_int64: \(text($0, "9"))" }),
    ("octal digits", { "one_int64: 0\(text($0, "0"))1" }),
    ("digits of a double", { "one_double: 0.\(text($0, "123456789"))" }),
    ("entries of a map", { text($0) { "map_string_string { key: 'k\(1000 + $0)' value: 'v' } " } }),
    ("an entry with many keys", { "map_string_string { \(text($0, "unknown: 1 "))}" }),
    ("unknown scalars", { text($0, "x: 1 y: 'a' 'b' z: [a, b] ") }),
    ("unknown messages", { text($0, "x { y: 1 z < > } ") }),
    ("unknown messages in each other", { nest(depth($0), "x { y: 1 ", "", "}") }),
    ("unknown extensions", { text($0, "[a.b.c]: 1 ") }),
    ("a long extension", { "[a\(text($0, ".b"))]: 1" }),
    (
      "an Any",
      {
        "one_any { [type.googleapis.com/google.protobuf.Struct] { \(text($0) { "fields { key: 'k\(1000 + $0)' } " })} }"
      }
    ),
    ("a long URL", { "one_any { [a\(text($0, "/b"))] { } }" }),
    ("an error at the end", { "\(text($0, "many_int32: 1\n"))?" }),
    (
      "an error within",
      { "\(text($0, "many_int32: 1\n"))\(nest(depth($0), "one_nested { outer { ", "?", "} }"))" }
    ),
  ]

  @Test(arguments: plain.indices) func readsTextInLinearTime(_ index: Int) throws {
    let input = Self.plain[index]
    var options = TextFormatDecodingOptions()
    options.ignoreUnknownFields = true
    options.ignoreUnknownExtensions = true
    let message = try? AllKinds3(textFormatString: input.text(800), options: options)
    #expect((message == nil) == Self.refused.contains(input.name))
    try CostCheck.check("text: \(input.name)", items: 400, input.text) { text in
      _ = try AllKinds3(textFormatString: text, options: options)
    }
  }

  // MARK: Unknown fields, as text

  @Test func writesUnknownFieldsInLinearTime() throws {
    let inner = { @Sendable (count: Int) in (0..<count).flatMap(CostlyBytes.unknown) }
    let shapes: [@Sendable (Int) -> [UInt8]] = [
      { inner($0) },
      { WireBytes.delimited(19_000, inner($0)) },
      { count in (0..<count).flatMap { WireBytes.delimited(19_000, CostlyBytes.unknown($0)) } },
      { count in
        let levels = Self.depth(count)
        return (0..<levels).flatMap { _ in WireBytes.tag(19_000, 3) }
          + (0..<levels).flatMap { _ in WireBytes.tag(19_000, 4) }
      },
    ]
    var options = TextFormatEncodingOptions()
    options.singleLine = true
    options.printUnknownFields = true
    for shape in shapes {
      let message = { try AllKinds3(serializedBytes: shape($0)) }
      try CostCheck.check("unknown fields", message) { message in
        _ = message.textFormatString(options: options)
      }
    }
  }

  // MARK: Inputs

  private static func text(_ count: Int, _ item: String) -> String { String(repeating: item, count: count) }

  private static func text(_ count: Int, _ item: (Int) -> String) -> String { (0..<count).map(item).joined() }

  private static func list(_ count: Int, _ item: String) -> String { list(count) { _ in item } }

  private static func list(_ count: Int, _ item: (Int) -> String) -> String {
    (0..<count).map(item).joined(separator: ",")
  }

  /// An object with this many members.
  private static func members(_ count: Int, _ member: String) -> String { "{\(list(count, member))}" }

  /// The number of levels for this many items: twice the smaller number is still allowed.
  private static func depth(_ count: Int) -> Int { count * 45 / 400 }

  private static func nest(_ levels: Int, _ open: String, _ content: String, _ close: String) -> String {
    String(repeating: open, count: levels) + content + String(repeating: close, count: levels)
  }

  private static func type(_ name: String) -> String {
    "\"@type\":\"type.googleapis.com/google.protobuf.\(name)\""
  }
}
