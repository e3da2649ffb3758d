import SwitchboardProtobuf
import TestMessages
import Testing

/// Errors of decoding, which servers send to whoever has sent the text: they do not repeat all of it.
@Suite struct LongErrorTests {
  private static let long = String(repeating: "é", count: 100_000)

  private static let json = [
    #"{"\#(long)": 0}"#, #"{"mapStringString": {"\#(long)": 0}}"#,
    #"{"mapStringSelf": {"a\#(long)": {"b": 0}}}"#,
    #"{"oneColor": "\#(long)"}"#, #"{"oneAny": {"@type": "type.googleapis.com/\#(long)"}}"#,
  ]

  @Test(arguments: json.indices) func errorsInJSONAreShort(_ index: Int) {
    let error = #expect(throws: DecodeError.self) { try AllKinds3(jsonString: Self.json[index]) }
    #expect((error?.description.utf8.count ?? 0) < 1000, "\(error?.description.prefix(200) ?? "")")
  }

  /// A log has one line for each, and a terminal does not obey them.
  @Test(arguments: [
    #"{"KEY": 0}"#, #"{"mapStringString": {"KEY": 0}}"#, #"{"mapStringSelf": {"KEY": {"b": 0}}}"#,
    #"{"oneAny": {"@type": "type.googleapis.com/KEY"}}"#,
  ]) func errorsHaveNoControlCharacters(_ json: String) {
    let parts = json.split(separator: "KEY", maxSplits: 1)
    let json = parts.joined(separator: #"\u001b[2J\n\u202e"#)
    let error = #expect(throws: DecodeError.self) { try AllKinds3(jsonString: json) }
    let shown = error?.description ?? ""
    #expect(shown.contains(#"\u{1B}[2J\n\u{202E}"#), "\(shown)")
    #expect(
      !shown.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E },
      "\(shown.debugDescription)"
    )
  }

  private static let ascii = String(repeating: "n", count: 100_000)
  private static let text = [
    "\(ascii): 0", "[\(ascii)]: 0", "one_color: \(ascii)", "one_any { [type.googleapis.com/\(ascii)] {} }",
  ]

  @Test(arguments: text.indices) func errorsInTheTextFormatAreShort(_ index: Int) {
    let error = #expect(throws: DecodeError.self) { try AllKinds3(textFormatString: Self.text[index]) }
    #expect((error?.description.utf8.count ?? 0) < 1000, "\(error?.description.prefix(200) ?? "")")
  }
}
