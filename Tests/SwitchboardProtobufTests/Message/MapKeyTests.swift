import SwitchboardDescriptors
import SwitchboardProtobuf
import TestMessages
import Testing

/// Keys of maps may have many combining marks, but not so many in a row that hashing them takes long.
@Suite struct MapKeyTests {
  private static let allowed = "k" + String(repeating: "\u{301}\u{316}", count: 32) + "k\u{301}"
  private static let refused = "k" + String(repeating: "\u{301}\u{316}", count: 32) + "\u{301}"

  private func expect(
    _ path: String,
    _ decode: (String) throws -> Int,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try decode(Self.allowed) == 1, sourceLocation: sourceLocation)
    let error = #expect(throws: DecodeError.self, sourceLocation: sourceLocation) { try decode(Self.refused) }
    let text = error?.description ?? ""
    #expect(text.hasPrefix("\(path): "), "\(text)", sourceLocation: sourceLocation)
    #expect(
      text.contains("a key of the map has more than 64 combining marks in a row"),
      "\(text)",
      sourceLocation: sourceLocation
    )
  }

  private func entry(_ number: Int32, _ key: String) -> [UInt8] {
    WireBytes.delimited(number, WireBytes.delimited(1, Array(key.utf8)))
  }

  @Test func binaryKeysAreBounded() throws {
    try expect("AllKinds3.map_string_string") {
      try AllKinds3(serializedBytes: entry(141, $0)).mapStringString.count
    }
    try expect("AllKinds3.map_string_nested") {
      try AllKinds3(serializedBytes: entry(145, $0)).mapStringNested.count
    }
    try expect("AllKinds3.map_string_color") {
      try AllKinds3(serializedBytes: entry(147, $0)).mapStringColor.count
    }
    // A key that follows its value, or another key.
    try expect("AllKinds3.map_string_string") {
      let content = WireBytes.delimited(2, [0x76]) + WireBytes.delimited(1, [0x6B])
      let entry = WireBytes.delimited(141, content + WireBytes.delimited(1, Array($0.utf8)))
      return try AllKinds3(serializedBytes: entry).mapStringString.count
    }
    try expect("AllKinds3.recursive.one_struct.fields") {
      let message = WireBytes.delimited(27, WireBytes.delimited(304, entry(1, $0)))
      return try AllKinds3(serializedBytes: message).recursive.oneStruct.fields.count
    }
  }

  @Test func keysOfJSONAreBounded() throws {
    try expect("AllKinds3.map_string_string") {
      try AllKinds3(jsonString: "{\"mapStringString\":{\"\($0)\":\"\"}}").mapStringString.count
    }
    try expect("AllKinds3.map_string_nested") {
      try AllKinds3(jsonString: "{\"mapStringNested\":{\"\($0)\":{}}}").mapStringNested.count
    }
    try expect("AllKinds3.one_struct") {
      try AllKinds3(jsonString: "{\"oneStruct\":{\"\($0)\":{}}}").oneStruct.fields.count
    }
  }

  @Test func keysOfTextAreBounded() throws {
    try expect("AllKinds3.map_string_string") {
      try AllKinds3(textFormatString: "map_string_string { key: '\($0)' }").mapStringString.count
    }
    try expect("AllKinds3.map_string_nested") {
      try AllKinds3(textFormatString: "map_string_nested { key: '\($0)' }").mapStringNested.count
    }
  }

  @Test func keysOfDynamicMessagesAreBounded() throws {
    let type = try TestPool.type(of: AllKinds3.self)
    func count(_ message: DynamicMessage) -> Int {
      if case .map(let entries)? = message["map_string_string"] { entries.count } else { 0 }
    }
    try expect("AllKinds3.map_string_string") {
      count(try DynamicMessage(type, serializedBytes: entry(141, $0)))
    }
    try expect("AllKinds3.map_string_string") {
      count(try DynamicMessage(type, jsonString: "{\"mapStringString\":{\"\($0)\":\"\"}}"))
    }
  }

  /// Any other string may have any number of them.
  @Test func valuesAreNotBounded() throws {
    let message = AllKinds3.with {
      $0.oneString = Self.refused
      $0.manyString = [Self.refused]
      $0.mapStringString = ["k": Self.refused]
      $0.oneValue = Google_Protobuf_Value(Self.refused)
    }
    #expect(try AllKinds3(serializedBytes: message.serializedBytes()) == message)
    #expect(try AllKinds3(jsonString: message.jsonString()) == message)
    #expect(try AllKinds3(textFormatString: message.textFormatString()) == message)
  }
}
