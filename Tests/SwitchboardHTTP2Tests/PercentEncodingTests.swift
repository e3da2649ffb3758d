import SwitchboardHTTP2
import Testing

/// The percent-encoding of messages of statuses.
@Suite struct PercentEncodingTests {
  @Test(arguments: ["", "plain", "100%", "schön\n\u{1F600}", "a%20b", " ", " at both ends ", "\t"])
  func messagesRoundTrip(_ message: String) {
    let encoded = PercentEncoding.encode(message)
    #expect(encoded.allSatisfy { (0x20...0x7e).contains($0) })
    #expect(encoded.first != 0x20 && encoded.last != 0x20)
    #expect(PercentEncoding.decode(encoded) == message)
  }

  @Test func invalidEscapesAreKept() {
    #expect(PercentEncoding.decode(Array("50%, %4, %zz, %41".utf8)) == "50%, %4, %zz, A")
  }
}
