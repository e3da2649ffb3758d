import SwitchboardDescriptors
import SwitchboardProtobuf
import TestMessages
import TestSupport
import Testing

/// The worst text of Unicode takes a time in proportion to its length, in every place for text in every format.
@Suite(.needsCosts) struct WorstTextTests {
  private typealias Place = (name: String, work: @Sendable (String) throws -> Void)

  private static func check(_ place: Place, _ text: WorstText) {
    Growth.check("\(place.name): \(text)", text.text) { text in
      // A refusal is an end like any other.
      try? place.work(text)
    }
  }

  private static let dynamic = Result { try TestPool.type(of: AllKinds3.self) }

  // MARK: Generated messages

  private static func json(_ name: String, _ text: @escaping @Sendable (String) -> String) -> Place {
    (
      "JSON, \(name)",
      { content in
        var options = JSONDecodingOptions()
        options.typeRegistry = JSONCase.types
        let bytes = Array(text(content).utf8)
        _ = try? AllKinds3(jsonUTF8Bytes: bytes, options: options)
        options.ignoreUnknownFields = true
        let message = try AllKinds3(jsonUTF8Bytes: bytes, options: options)
        _ = try message.jsonUTF8Bytes()
      }
    )
  }

  private static func text(_ name: String, _ text: @escaping @Sendable (String) -> String) -> Place {
    (
      "text, \(name)",
      { content in
        var options = TextFormatDecodingOptions()
        options.ignoreUnknownFields = true
        _ = try AllKinds3(textFormatString: text(content), options: options).textFormatString()
      }
    )
  }

  private static func binary(_ name: String, _ change: @escaping @Sendable (inout AllKinds3, String) -> Void)
    -> Place
  {
    (
      "binary, \(name)",
      { content in
        let message = AllKinds3.with { change(&$0, content) }
        let bytes = try message.serializedBytes()
        let read = try AllKinds3(serializedBytes: bytes)
        _ = try read.jsonUTF8Bytes()
      }
    )
  }

  /// The bytes of a message with an entry of a map.
  private static func entry(_ number: Int32, _ key: String) -> [UInt8] {
    WireBytes.delimited(number, WireBytes.delimited(1, Array(key.utf8)))
  }

  private static let messages: [Place] = [
    json("an unknown name") { "{\"\($0)\":1}" },
    json("an unknown name in brackets") { "{\"[\($0)]\":1}" },
    json("a string") { "{\"oneString\":\"\($0)\"}" },
    json("strings") { "{\"manyString\":[\"\($0)\",\"\($0)\"]}" },
    json("a member of a oneof") { "{\"choiceString\":\"\($0)\"}" },
    json("the name of an enum's value") { "{\"oneColor\":\"\($0)\"}" },
    json("names of an enum's values") { "{\"manyColor\":[\"\($0)\"]}" },
    json("a number") { "{\"oneInt32\":\"\($0)\"}" },
    json("a double") { "{\"oneDouble\":\"\($0)\"}" },
    json("a float that begins well") { "{\"oneFloat\":\"N\($0)\"}" },
    json("bytes") { "{\"oneBytes\":\"\($0)\"}" },
    json("a key") { "{\"mapStringString\":{\"\($0)\":\"\"}}" },
    json("a key for messages") { "{\"mapStringNested\":{\"\($0)\":{}}}" },
    json("a key that is a number") { "{\"mapInt32Int32\":{\"\($0)\":1}}" },
    json("a key that is true or not") { "{\"mapBoolBool\":{\"t\($0)\":true}}" },
    json("a value of a map") { "{\"mapStringString\":{\"k\":\"\($0)\"}}" },
    json("a member of a Struct") { "{\"oneStruct\":{\"\($0)\":\"\($0)\"}}" },
    json("a Value") { "{\"oneValue\":[\"\($0)\"]}" },
    json("a type") { "{\"oneAny\":{\"@type\":\"\($0)\"}}" },
    json("a type behind a slash") { "{\"oneAny\":{\"@type\":\"type.googleapis.com/\($0)\"}}" },
    json("a type before a slash") {
      "{\"oneAny\":{\"@type\":\"\($0)/google.protobuf.Empty\",\"value\":{}}}"
    },
    json("an unknown name beside a type") {
      "{\"oneAny\":{\"@type\":\"x/google.protobuf.Duration\",\"\($0)\":1,\"value\":\"1s\"}}"
    },
    json("paths") { "{\"oneFieldMask\":\"\($0),\($0)\"}" },
    json("a time") { "{\"oneTimestamp\":\"\($0)\"}" },
    json("a duration") { "{\"oneDuration\":\"1\($0)\"}" },
    json("a wrapped string") { "{\"wrappedString\":\"\($0)\"}" },
    text("a string") { "one_string: '\($0)'" },
    text("strings") { "many_string: ['\($0)', '\($0)']" },
    text("a key") { "map_string_string { key: '\($0)' value: '\($0)' }" },
    text("a key for messages") { "map_string_nested { key: '\($0)' }" },
    text("an unknown string") { "x: '\($0)'" },
    text("a name") { "\($0): 1" },
    text("a comment") { "# \($0)" },
    text("a type") { "one_any { [\($0)/x] {} }" },
    text("a type in a field") { "one_any { type_url: '\($0)/google.protobuf.Empty' }" },
    text("paths") { "one_field_mask { paths: '\($0)' }" },
    binary("a string") { $0.oneString = $1 },
    binary("strings") { $0.manyString = [$1, $1] },
    binary("a value of a map") { $0.mapStringString = ["k": $1] },
    binary("a type") { $0.oneAny.typeURL = $1 },
    binary("a type before a slash") { $0.oneAny.typeURL = $1 + "/google.protobuf.Empty" },
    binary("paths") { $0.oneFieldMask.paths = [$1, "\($1).a", "a.\($1)"] },
    binary("a Value") { $0.oneValue = Google_Protobuf_Value($1) },
    ("binary, a key", { _ = try AllKinds3(serializedBytes: entry(141, $0)) }),
    ("binary, a key for messages", { _ = try AllKinds3(serializedBytes: entry(145, $0)) }),
    ("binary, a key for enums", { _ = try AllKinds3(serializedBytes: entry(147, $0)) }),
    ("binary, a member of a Struct", { _ = try Google_Protobuf_Struct(serializedBytes: entry(1, $0)) }),
  ]

  @Test(arguments: messages.indices, WorstText.allCases)
  func messagesAreReadInLinearTime(place: Int, text: WorstText) { Self.check(Self.messages[place], text) }

  /// Keys of which each has as many marks as a key may have.
  @Test func manyKeysTakeLinearTime() throws {
    let run = WorstText.descendingMarks.text(2 * 64)
    func keys(_ count: Int) -> [String] { (0..<count).map { "\($0)\(run)" } }
    func binary(_ count: Int) -> [UInt8] { keys(count).flatMap { Self.entry(141, $0) } }
    func json(_ count: Int) -> String {
      "{\"mapStringString\":{\(keys(count).map { "\"\($0)\":\"\"" }.joined(separator: ","))}}"
    }
    try Growth.check("binary", size: 100, binary) { _ = try AllKinds3(serializedBytes: $0) }
    try Growth.check("JSON", size: 100, json) { text in
      let (message, other) = (try AllKinds3(jsonString: text), try AllKinds3(jsonString: text))
      #expect(message == other)
    }
  }

  // MARK: Equality

  /// Messages that differ only at the end, such that every other byte is compared.
  private static let fields: [(name: String, set: @Sendable (inout AllKinds3, String) -> Void)] = [
    ("a string", { $0.oneString = $1 }), ("an optional string", { $0.optionalString = $1 }),
    ("strings", { $0.manyString = ["", $1] }), ("a member of a oneof", { $0.choiceString = $1 }),
    ("a value of a map", { $0.mapStringString = ["k": $1] }),
    ("a nested string", { $0.recursive.oneString = $1 }),
    ("a string in a map", { message, text in message.mapStringSelf = ["k": .with { $0.oneString = text }] }),
    ("a type", { $0.oneAny.typeURL = $1 }), ("paths", { $0.oneFieldMask.paths = [$1] }),
    ("a Value", { $0.oneValue = Google_Protobuf_Value($1) }),
  ]

  @Test(arguments: fields.indices, WorstText.allCases)
  func messagesAreComparedAndHashedInLinearTime(field: Int, text: WorstText) throws {
    let (name, set) = Self.fields[field]
    func messages(_ size: Int) -> [AllKinds3] {
      ["\u{300}", "\u{301}", "\u{300}"].map { end in .with { set(&$0, text.text(size) + end) } }
    }
    Growth.check("\(name): \(text)", messages) { messages in
      #expect(messages[0] != messages[1])
      #expect(messages[0] == messages[2])
      #expect(messages[0].hashValue == messages[2].hashValue)
    }
    let type = try Self.dynamic.get()
    func dynamic(_ size: Int) throws -> [DynamicMessage] {
      try messages(size).map { try DynamicMessage(type, serializedBytes: $0.serializedBytes()) }
    }
    try Growth.check("dynamic, \(name): \(text)", dynamic) { messages in
      #expect(messages[0] == messages[2])
      #expect(messages[0].hashValue == messages[2].hashValue)
      #expect(messages[0] != messages[1])
      _ = messages[0]["one_string"] == messages[1]["one_string"]
    }
  }

  @Test(arguments: WorstText.allCases) func extensionsAreComparedAndHashedInLinearTime(text: WorstText) throws
  {
    func messages(_ size: Int) -> [AllKinds2] {
      ["\u{300}", "\u{301}", "\u{300}"].map { end in
        .with {
          $0[Switchboard_Testing_Extensions_extension_string] = text.text(size) + end
          $0[Switchboard_Testing_Extensions_extension_many_string] = [text.text(size) + end]
        }
      }
    }
    Growth.check("\(text)", messages) { messages in
      #expect(messages[0] != messages[1])
      #expect(messages[0] == messages[2])
      #expect(messages[0].hashValue == messages[2].hashValue)
    }
  }

  // MARK: What programs call

  private static let calls: [Place] = [
    ("isPathValid", { _ = Google_Protobuf_FieldMask.isPathValid($0, for: AllKinds3.self) }),
    ("isValid", { _ = Google_Protobuf_FieldMask(protoPaths: [$0, "a.\($0)"]).isValid(for: AllKinds3.self) }),
    ("contains", { _ = Google_Protobuf_FieldMask(protoPaths: [$0]).contains("\($0).a") }),
    ("canonical", { _ = Google_Protobuf_FieldMask(protoPaths: [$0, "\($0).a", "\($0)b"]).canonical }),
    (
      "intersection",
      { _ = Google_Protobuf_FieldMask(protoPaths: [$0]).intersection(.init(protoPaths: [$0])) }
    ),
    ("jsonPaths", { _ = Google_Protobuf_FieldMask(jsonPaths: [$0]) }),
    (
      "merge",
      {
        var message = AllKinds3()
        try message.merge(from: AllKinds3(), fieldMask: .init(protoPaths: [$0]))
      }
    ),
    (
      "trim",
      {
        var message = AllKinds3()
        message.trim(keeping: .init(protoPaths: [$0]))
      }
    ),
    ("typeName", { _ = Google_Protobuf_Any.with(url: $0).typeName }),
    ("isA", { _ = Google_Protobuf_Any.with(url: "x/\($0)").isA(AllKinds3.self) }),
    ("unpack", { _ = try Google_Protobuf_Any.with(url: "\($0)/a").unpack(as: AllKinds3.self) }),
    ("messageType", { _ = TypeRegistry().messageType(named: $0) }),
    ("a dynamic field", { text in _ = try Self.dynamic.get().field(named: text) }),
  ]

  @Test(arguments: calls.indices, WorstText.allCases)
  func functionsTakeLinearTime(place: Int, text: WorstText) { Self.check(Self.calls[place], text) }

  // MARK: Descriptors

  private static let descriptors:
    [(name: String, set: @Sendable (inout Google_Protobuf_FileDescriptorProto, String) -> Void)] = [
      ("a file", { $0.name = $1 }), ("an import", { $0.dependency = [$1] }),
      ("a package", { $0.package = $1 }),
      ("a message", { $0.messageType[0].name = $1 }),
      ("messages", { $0.messageType[0].nestedType[0].name = $1 }),
      ("a field", { $0.messageType[0].field[0].name = $1 }),
      ("a JSON name", { $0.messageType[0].field[0].jsonName = $1 }),
      ("a type", { $0.messageType[0].field[0].typeName = $1 }),
      ("a full type", { $0.messageType[0].field[0].typeName = ".\($1)" }),
      ("a default", { $0.messageType[0].field[0].defaultValue = $1 }),
      ("a reserved name", { $0.messageType[0].reservedName = [$1] }),
      ("an enum", { $0.enumType[0].name = $1 }), ("a value", { $0.enumType[0].value[0].name = $1 }),
      (
        "an extendee",
        {
          $0.extension = [TestPool.field("a", 1, .int32)]
          $0.extension[0].extendee = $1
        }
      ),
      ("a syntax", { $0.syntax = $1 }),
    ]

  @Test(arguments: descriptors.indices, WorstText.allCases)
  func descriptorsAreReadInLinearTime(place: Int, text: WorstText) {
    let (name, set) = Self.descriptors[place]
    func file(_ size: Int) -> Google_Protobuf_FileDescriptorProto {
      var file = Google_Protobuf_FileDescriptorProto.with {
        $0.name = "test.proto"
        $0.syntax = "proto2"
        $0.messageType = [TestPool.message("Outer", [TestPool.field("text", 1, .bool)])]
        $0.messageType[0].nestedType = [TestPool.message("Inner", [TestPool.field("text", 1, .string)])]
        $0.enumType = [
          .with {
            $0.name = "Enum"
            $0.value = [.with { $0.name = "ZERO" }]
          }
        ]
      }
      set(&file, text.text(size))
      return file
    }
    Growth.check("\(name): \(text)", file) { file in
      guard let pool = try? DescriptorPool([file, file]) else { return }
      for type in pool.messageTypes {
        let message = DynamicMessage(type)
        _ = try? message.jsonString()
        _ = message.textFormatString()
      }
    }
  }
}

extension Google_Protobuf_Any {
  fileprivate static func with(url: String) -> Google_Protobuf_Any { .with { $0.typeURL = url } }
}
