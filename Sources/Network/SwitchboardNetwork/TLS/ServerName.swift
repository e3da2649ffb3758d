import COpenSSL
import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The name in a server's certificate, in a form that OpenSSL takes neither for no name nor for several.
package struct ServerName {
  package let text: String
  /// Whether it is a numeric address: verified as an address, and not sent in SNI.
  let isAddress: Bool

  /// Throws `INVALID_ARGUMENT` if the text is neither a DNS name nor an address.
  init(_ text: String) throws(GRPCStatus) {
    OpenSSL.prepare()
    // Certificates omit the trailing dot of a DNS name.
    let text = text.hasSuffix(".") ? String(text.dropLast()) : text
    self.text = text
    isAddress = Self.isAddress(text)
    guard !isAddress else { return }
    guard let reason = Self.flaw(of: text) else { return }
    let shown = text.isEmpty ? "an empty name" : "the name \(text.debugDescription)"
    throw GRPCStatus(
      code: .invalidArgument,
      message: "TLS: cannot verify a certificate for \(shown): \(reason)",
      origin: .user
    )
  }

  /// A name that is sent. Throws `INVALID_ARGUMENT` for an address too, which SNI does not allow.
  package init(sent text: String) throws(GRPCStatus) {
    try self.init(text)
    guard !isAddress else {
      throw GRPCStatus(
        code: .invalidArgument,
        message: "TLS: cannot ask a server for \(text.debugDescription): an address is no name",
        origin: .user
      )
    }
  }

  /// Asks the system, because OpenSSL takes a text that only begins with an address for one. A zero byte would end the
  /// text for both.
  private static func isAddress(_ text: String) -> Bool {
    var bytes = in6_addr()
    return !text.utf8.contains(0)
      && (inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1)
  }

  /// Why the text is not a valid name; `nil` if it is. OpenSSL checks nothing if the name is empty, and a name that
  /// begins with a dot matches all names that end with it.
  private static func flaw(of text: String) -> String? {
    guard !text.isEmpty else { return "any certificate would match" }
    guard text.utf8.count <= 253 else { return "a name has at most 253 characters" }
    let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.allSatisfy({ (1...63).contains($0.count) }) else {
      return "each part between dots has 1 to 63 characters"
    }
    guard !text.utf8.contains(UInt8(ascii: ":")) else { return "a name has no port and no scheme" }
    guard labels.joined().allSatisfy(isOfName) else {
      return "a name consists of letters, digits, hyphens and underscores; use Punycode for others"
    }
    return nil
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
