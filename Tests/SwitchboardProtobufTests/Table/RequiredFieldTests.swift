import SwitchboardProtobuf
import TestMessages
import Testing

/// What a required field that is not set is called in errors.
struct RequiredFieldTests {
  private typealias Below = Switchboard_Testing_RequiredBelow2

  @Test(arguments: [
    (#"{"one":{}}"#, "RequiredBelow2.one.number"),
    (#"{"many":[{"number":1}]}"#, "RequiredBelow2.many.text"),
    (#"{"byName":{"x":{"number":1,"text":""}}}"#, "RequiredBelow2.by_name.late"),
    (#"{"chosen":{}}"#, "RequiredBelow2.chosen.number"),
    (#"{"grouped":{}}"#, "RequiredBelow2.grouped.number"),
    (#"{"recursive":{"recursive":{"one":{}}}}"#, "RequiredBelow2.recursive.recursive.one.number"),
  ])
  func aMissingRequiredFieldIsNamedInEveryFormat(_ json: String, _ path: String) throws {
    let expected = "\(path): missing required field"
    let partial = try Below(jsonString: json, partial: true)
    let bytes = try partial.serializedBytes(partial: true)
    let errors: [(any Error)?] = [
      #expect(throws: DecodeError.self) { try Below(jsonString: json) },
      #expect(throws: DecodeError.self) { try Below(serializedBytes: bytes) },
      #expect(throws: DecodeError.self) { try Below(textFormatString: partial.textFormatString()) },
      #expect(throws: EncodeError.self) { try partial.serializedBytes() },
      #expect(throws: EncodeError.self) { try partial.jsonString() },
    ]
    for error in errors { #expect(error.map(String.init(describing:)) == expected) }
  }
}
