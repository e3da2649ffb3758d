import SwitchboardProtobuf
import TestMessages
import Testing

/// The depth limit of input, for every kind of nesting.
@Suite struct JSONNestingTests {
  /// `depth` objects in the outermost one.
  private func nested(_ depth: Int, _ before: String, _ innermost: String, _ after: String) -> String {
    String(repeating: before, count: depth) + innermost + String(repeating: after, count: depth)
  }

  private func depthError(_ input: String, ignoringUnknown: Bool = false) -> DecodeError.Reason? {
    var options = JSONDecodingOptions()
    options.ignoreUnknownFields = ignoringUnknown
    do {
      _ = try AllKinds3(jsonString: input, options: options)
      return nil
    } catch {
      return error.reason
    }
  }

  @Test func limitsMessages() {
    #expect(depthError(nested(100, #"{"recursive":"#, "{}", "}")) == nil)
    #expect(depthError(nested(101, #"{"recursive":"#, "{}", "}")) == .nestedTooDeep)
  }

  @Test func limitsValues() {
    #expect(depthError(#"{"oneValue":"# + nested(100, "[", "1", "]") + "}") == nil)
    #expect(depthError(#"{"oneValue":"# + nested(101, "[", "1", "]") + "}") == .nestedTooDeep)
    #expect(depthError(#"{"oneValue":"# + nested(100, #"{"a":"#, "1", "}") + "}") == nil)
    #expect(depthError(#"{"oneValue":"# + nested(101, #"{"a":"#, "1", "}") + "}") == .nestedTooDeep)
  }

  @Test(arguments: ["[", #"{"a":"#, "[1,2.5,"])
  func limitsNestingOfIgnoredFields(_ opening: String) {
    let closing = opening.hasPrefix("[") ? "]" : "}"
    #expect(depthError(#"{"a":"# + nested(100, opening, "1", closing) + "}", ignoringUnknown: true) == nil)
    #expect(
      depthError(#"{"a":"# + nested(101, opening, "1", closing) + "}", ignoringUnknown: true)
        == .nestedTooDeep
    )
  }

  @Test func survivesInputThatOnlyOpens() {
    for opening in ["[", "{\"a\":", #"{"recursive":"#, #"{"oneValue":["#] {
      let input = String(repeating: opening, count: 100_000)
      #expect(depthError(input, ignoringUnknown: true) != nil)
      #expect(depthError(#"{"oneValue":"# + input, ignoringUnknown: true) != nil)
      #expect(depthError(#"{"oneAny":"# + input, ignoringUnknown: true) != nil)
    }
  }

  @Test func limitsMessagesInAny() throws {
    // The bytes of an Any hide each level from the binary decoder.
    var any = Google_Protobuf_Any()
    for level in 0..<200 {
      any = try Google_Protobuf_Any(message: any)
      let written = Result { try any.jsonString() }
      #expect((try? written.get()) == nil || level < 100)
      if level == 50 { #expect((try? written.get()) != nil) }
    }
    let input = nested(50, #"{"@type":"type.googleapis.com/google.protobuf.Any","value":"#, "{}", "}")
    #expect(try Google_Protobuf_Any(jsonString: input).jsonString() == input)
    let tooDeep = nested(102, #"{"@type":"type.googleapis.com/google.protobuf.Any","value":"#, "{}", "}")
    #expect(throws: DecodeError.self) { try Google_Protobuf_Any(jsonString: tooDeep) }
  }

  @Test func acceptsAnotherLimit() throws {
    var options = JSONDecodingOptions()
    options.messageDepthLimit = 1
    #expect(throws: Never.self) { try AllKinds3(jsonString: #"{"recursive":{}}"#, options: options) }
    #expect(throws: DecodeError.self) {
      try AllKinds3(jsonString: #"{"recursive":{"recursive":{}}}"#, options: options)
    }
    options.messageDepthLimit = 0
    #expect(throws: Never.self) { try AllKinds3(jsonString: "{}", options: options) }
    #expect(throws: DecodeError.self) { try AllKinds3(jsonString: #"{"recursive":{}}"#, options: options) }
    options.messageDepthLimit = -1
    #expect(throws: Never.self) { try AllKinds3(jsonString: "{}", options: options) }
  }
}
