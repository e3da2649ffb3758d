import SwitchboardText
import Testing

/// The percent-encoding of messages of statuses, and of URLs.
@Suite struct PercentEncodingTests {
  private func decode(_ text: String, _ decoding: PercentEncoding.Decoding = .all) -> String {
    String(decoding: PercentEncoding.decode(Array(text.utf8), decoding), as: UTF8.self)
  }

  private func decodeStrictly(_ text: String, _ decoding: PercentEncoding.Decoding = .all) -> String? {
    PercentEncoding.decodeStrictly(Array(text.utf8), decoding).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: ["", "plain", "100%", "schön\n\u{1F600}", "a%20b", " ", " at both ends ", "\t"])
  func messagesRoundTrip(_ message: String) {
    let encoded = PercentEncoding.encode(message)
    #expect(encoded.allSatisfy { (0x20...0x7e).contains($0) })
    #expect(encoded.first != 0x20 && encoded.last != 0x20)
    #expect(decode(String(decoding: encoded, as: UTF8.self)) == message)
  }

  @Test func encodesAllButWhatIsPlain() {
    #expect(PercentEncoding.encode("a,\u{7f}".utf8) { $0 == UInt8(ascii: "a") } == Array("a%2C%7F".utf8))
  }

  @Test func invalidEscapesAreKept() {
    #expect(decode("50%, %4, %zz, %41") == "50%, %4, %zz, A")
    #expect(decode("%") == "%")
    #expect(decode("%4") == "%4")
    #expect(decode("%zz%41") == "%zzA")
  }

  @Test func decodesWhatTheTextIsMadeOf() {
    #expect(decode("a%20b%2Fc%2fd+e") == "a b/c/d+e")
    #expect(decode("a%20b%2Fc%2fd+e", .unreserved) == "a b%2Fc%2fd+e")
    #expect(decode("a%20b%2Fc+e", .form) == "a b/c e")
    #expect(decode("%25%32%46") == "%2F")
    #expect(PercentEncoding.decode(Array("%00".utf8)) == [0])
  }

  @Test func strictlyNothingIsInvalid() {
    #expect(decodeStrictly("a+%41", .form) == "a A")
    #expect(decodeStrictly("a+%41") == "a+A")
    for text in ["%", "%4", "%zz", "a%"] { #expect(decodeStrictly(text) == nil) }
  }
}
