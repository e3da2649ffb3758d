import ConformanceMessages
import Testing

@testable import ConformanceTestee

@Suite struct TesteeTests {
  private typealias Request = Conformance_ConformanceRequest

  private static let proto2 = "protobuf_test_messages.proto2.TestAllTypesProto2"
  private static let proto3 = "protobuf_test_messages.proto3.TestAllTypesProto3"
  private static let edition = "protobuf_test_messages.editions.TestAllTypesEdition2023"

  private func answer(
    of type: String,
    usesEditions: Bool = false,
    _ populate: (inout Conformance_ConformanceRequest) -> Void
  ) -> Conformance_ConformanceResponse.OneOf_Result? {
    var request = Request.with { $0.messageType = type }
    populate(&request)
    return Testee(usesEditions: usesEditions).respond(to: request).result
  }

  @Test func expectsNoFailures() {
    #expect(answer(of: "conformance.FailureSet") { _ in } == .protobufPayload([]))
  }

  @Test(arguments: [proto2, proto3, edition])
  func readsAndWritesEveryFormat(type: String) {
    let binary = answer(of: type) {
      $0.textPayload = "optional_int32: 7"
      $0.requestedOutputFormat = .protobuf
    }
    #expect(binary == .protobufPayload([0x08, 0x07]))
    let json = answer(of: type) {
      $0.protobufPayload = [0x08, 0x07]
      $0.requestedOutputFormat = .json
    }
    #expect(json == .jsonPayload(#"{"optionalInt32":7}"#))
    let text = answer(of: type) {
      $0.jsonPayload = #"{"optionalInt32": 7}"#
      $0.requestedOutputFormat = .textFormat
    }
    #expect(text == .textPayload("optional_int32: 7\n"))
  }

  @Test func usesAnEditionInstead() {
    let text = answer(of: Self.proto2, usesEditions: true) {
      $0.textPayload = "[protobuf_test_messages.editions.proto2.extension_int32]: 7"
      $0.requestedOutputFormat = .textFormat
    }
    #expect(text == .textPayload("[protobuf_test_messages.editions.proto2.extension_int32]: 7\n"))
  }

  @Test func skipsUnknownFieldsOnRequest() {
    func answer(_ category: Conformance_TestCategory) -> Conformance_ConformanceResponse.OneOf_Result? {
      self.answer(of: Self.proto3) {
        $0.jsonPayload = #"{"nobodyKnows": [1], "optionalNestedEnum": "NOBODY"}"#
        $0.testCategory = category
        $0.requestedOutputFormat = .json
      }
    }
    #expect(answer(.jsonIgnoreUnknownParsingTest) == .jsonPayload("{}"))
    guard case .parseError = answer(.jsonTest) else { return #expect(Bool(false), "the unknown was taken") }
  }

  @Test(arguments: [(true, "1001: 7\n"), (false, "")])
  func printsUnknownFieldsOnRequest(shows: Bool, expected: String) {
    let text = answer(of: Self.proto2) {
      $0.protobufPayload = [0xC8, 0x3E, 0x07]
      $0.printUnknownFields = shows
      $0.requestedOutputFormat = .textFormat
    }
    #expect(text == .textPayload(expected))
  }

  @Test func distinguishesParseAndSerializeErrors() {
    let unread = answer(of: Self.proto3) {
      $0.protobufPayload = [0x08]
      $0.requestedOutputFormat = .json
    }
    #expect(unread == .parseError("TestAllTypesProto3.optional_int32: truncated"))
    let unwritten = answer(of: Self.proto3) {
      $0.textPayload = "optional_value { number_value: nan }"
      $0.requestedOutputFormat = .json
    }
    guard case .serializeError = unwritten else { return #expect(Bool(false), "NaN was written") }
  }

  @Test func skipsWhatIsNotPublished() {
    let response = answer(of: Self.proto3) { $0.jspbPayload = "[]" }
    guard case .skipped = response else { return #expect(Bool(false), "JSPB was taken") }
    guard case .runtimeError = answer(of: "nobody.Knows", { _ in }) else {
      return #expect(Bool(false), "an unknown type was taken")
    }
  }
}
