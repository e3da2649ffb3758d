/// A verified certificate. The peer has proved that it owns the key.
public struct PeerCertificate: Sendable, Hashable {
  /// A name that the certificate is issued for.
  public enum AlternativeName: Sendable, Hashable {
    /// A host name, possibly with a wildcard.
    case dns(String)
    /// A URI, such as a SPIFFE identity.
    case uri(String)
    /// An email address.
    case email(String)
    /// An IP address, in numeric form.
    case ipAddress(String)
  }

  /// The subject, in RFC 2253 form.
  public var subject: String
  /// The subject's alternative names, in the certificate's order.
  public var alternativeNames: [AlternativeName]
  /// The certificate in PEM.
  public var pem: String

  package init(subject: String, alternativeNames: [AlternativeName], pem: String) {
    self.subject = subject
    self.alternativeNames = alternativeNames
    self.pem = pem
  }
}
