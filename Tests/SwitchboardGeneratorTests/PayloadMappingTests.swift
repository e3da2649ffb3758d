import Testing

@testable import SwitchboardGenerator

@Suite("Payload mappings")
struct PayloadMappingTests {
  private let mappings = """
    payload { marshaller: "General<_>" }
    payload { service: ["a.S", "a.T"] marshaller: "Service<_>" module_name: "S" }
    payload { message: "a.M" swift_type: "Own" marshaller: "Message" module_name: "M" }
    payload { method: "a.S.Get" marshaller: "Method<_>" module_name: ["G", "H"] }
    """

  @Test("The most specific mapping applies")
  func precedence() throws {
    let mappings = try PayloadMappings(text: mappings)
    #expect(mappings.payload(of: "a.N", in: "Get", of: "a.Other")?.marshaller == "General<_>")
    #expect(mappings.payload(of: "a.N", in: "Put", of: "a.T")?.marshaller == "Service<_>")
    #expect(mappings.payload(of: "a.M", in: "Put", of: "a.T")?.marshaller == "Message")
    let method = try #require(mappings.payload(of: "a.M", in: "Get", of: "a.S"))
    #expect(method == .init(swiftType: "Own", marshaller: "Method<_>", modules: ["G", "H", "M"]))
    #expect(mappings.payload(of: "a.N", in: "Get", of: "a.S")?.swiftType == nil)
  }

  @Test("Without mappings, messages are as they are generated")
  func nothing() throws {
    #expect(PayloadMappings().payload(of: "a.M", in: "Get", of: "a.S") == nil)
  }

  @Test(
    "The message's type stands where the marshaller has a _ of its own",
    arguments: [
      ("Plain", "Plain()"), ("Of<_>", "Of<A.B>()"), ("A_B<_, C_<_>>", "A_B<A.B, C_<A.B>>()"),
      ("_", "A.B()"),
    ]
  )
  func substitution(marshaller: String, expected: String) {
    let payload = PayloadMappings.Payload(swiftType: nil, marshaller: marshaller, modules: [])
    #expect(payload.marshaller(for: "A.B") == expected)
  }

  @Test(
    "Broken mappings give the line and the reason",
    arguments: [
      ("payload {}", "the payload needs a marshaller"),
      ("payload { marshaller: \"A\" marshaller: \"B\" }", "marshaller is given twice"),
      ("payload { marshaller: \"A()\" }", "'A()' is not the name of a Swift type"),
      ("payload { marshaller: \"A\" message: \"m\" swift_type: \"B; C\" }", "'B; C' is not the name"),
      ("payload { marshaller: \"A\" module_name: \"B C\" }", "'B C' is not the name of a module"),
      ("payload { marshaller: \"A\" swift_type: \"B\" }", "a swift_type needs the message"),
      ("payload { marshaller: \"A\" swift_type: \"B\" service: \"s\" }", "a swift_type needs the message"),
      (
        "payload { marshaller: \"A\" color: \"red\" }",
        "the fields of a payload are message, service, method,"
      ),
      ("payload { marshaller: \"A\" } payload { marshaller: \"B\" }", "two payloads have no selector"),
      ("payload { marshaller: \"A\" message: [\"m\", \"m\"] }", "the message 'm' is mapped twice"),
      ("mapping { }", "expected 'payload'"),
    ]
  )
  func errors(text: String, expected: String) {
    #expect {
      try PayloadMappings(text: text)
    } throws: { error in
      "\(error)".hasPrefix("payload mappings, line 1: ") && "\(error)".contains(expected)
    }
  }
}
