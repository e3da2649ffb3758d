import COpenSSL
import SwitchboardCall

/// The name that a server's certificate must carry: one that OpenSSL cannot take for no name, or for several.
struct ServerName {
  let text: String
  /// In numbers: checked as an address, and never sent.
  let isAddress: Bool

  /// Throws `INVALID_ARGUMENT` for what is neither a name of DNS nor an address.
  init(_ text: String) throws(GRPCStatus) {
    // The dot that ends a name of DNS is in no certificate.
    let text = text.hasSuffix(".") ? String(text.dropLast()) : text
    self.text = text
    isAddress = Self.isAddress(text)
    guard !isAddress else { return }
    guard let reason = Self.flaw(of: text) else { return }
    let shown = text.isEmpty ? "an empty name" : "the name \(text.debugDescription)"
    throw GRPCStatus(
      code: .invalidArgument,
      message: "TLS: no certificate can be checked for \(shown): \(reason)",
      origin: .user
    )
  }

  private static func isAddress(_ text: String) -> Bool {
    // Zero bytes would end the text where OpenSSL reads it.
    guard !text.utf8.contains(0), let address = a2i_IPADDRESS(text) else {
      ERR_clear_error()
      return false
    }
    ASN1_OCTET_STRING_free(address)
    return true
  }

  /// What keeps it from being a name, if anything does. OpenSSL checks nothing for an empty name, and takes one that begins
  /// with a dot for all names that end with it.
  private static func flaw(of text: String) -> String? {
    guard !text.isEmpty else { return "without one, any would do" }
    guard text.utf8.count <= 253 else { return "names have 253 characters at most" }
    let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.allSatisfy({ (1...63).contains($0.count) }) else {
      return "each part between dots has 1 to 63 characters"
    }
    guard labels.joined().allSatisfy(isOfName) else {
      return "names are made of letters, digits, hyphens and underscores; others are written in Punycode"
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
