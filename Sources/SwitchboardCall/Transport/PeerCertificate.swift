/// A certificate that was checked, and whose key its owner holds.
public struct PeerCertificate: Sendable, Hashable {
  /// One of the names that the certificate is for.
  public enum AlternativeName: Sendable, Hashable {
    /// A host's name, possibly with a wildcard.
    case dns(String)
    /// Such as a SPIFFE identity.
    case uri(String)
    /// A mailbox.
    case email(String)
    /// In numbers.
    case ipAddress(String)
  }

  /// The subject, in RFC 2253 form.
  public var subject: String
  /// The subject's alternative names, in the certificate's order.
  public var alternativeNames: [AlternativeName]
  /// The certificate itself.
  public var pem: String

  /// Made by transports.
  package init(subject: String, alternativeNames: [AlternativeName], pem: String) {
    self.subject = subject
    self.alternativeNames = alternativeNames
    self.pem = pem
  }

  /// The alternative names that are names of hosts.
  public var dnsNames: [String] {
    alternativeNames.compactMap { name in
      if case .dns(let host) = name { host } else { nil }
    }
  }
}
