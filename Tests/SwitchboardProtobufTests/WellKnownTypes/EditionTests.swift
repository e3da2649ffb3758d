import SwitchboardProtobuf
import Testing

/// What editions added to the types that describe types and APIs.
@Suite struct EditionTests {
  private func check<M: Message>(_ message: M, json: String) throws {
    #expect(try message.jsonString() == json)
    #expect(try M(jsonString: json) == message)
    #expect(try M(textFormatString: message.textFormatString()) == message)
    let copy = try M(serializedBytes: message.serializedBytes())
    #expect(copy == message)
    #expect(copy.unknownFields.isEmpty)
  }

  @Test func typesHaveAnEdition() throws {
    let json = #"{"syntax":"SYNTAX_EDITIONS","edition":"2023"}"#
    try check(Google_Protobuf_Type.with { ($0.syntax, $0.edition) = (.editions, "2023") }, json: json)
    try check(Google_Protobuf_Enum.with { ($0.syntax, $0.edition) = (.editions, "2023") }, json: json)
    try check(Google_Protobuf_Api.with { ($0.syntax, $0.edition) = (.editions, "2023") }, json: json)
    try check(Google_Protobuf_Method.with { ($0.syntax, $0.edition) = (.editions, "2023") }, json: json)
  }
}
