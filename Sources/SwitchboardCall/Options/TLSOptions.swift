/// Where certificates or a key come from, in PEM.
public enum PEMSource: Sendable, Hashable {
  /// The path of a file, read when a server or a channel is made.
  case file(String)
  /// The contents of such a file.
  case bytes([UInt8])
}

/// What both sides of TLS agree on in the end.
public enum TLSVersion: Sendable, Hashable {
  /// RFC 5246.
  case tls12
  /// RFC 8446.
  case tls13
}

/// A certificate with those that vouch for it, and its key.
public struct TLSCredentials: Sendable, Hashable {
  /// The certificate first, then the chain up to but without the root.
  public var certificateChain: PEMSource
  /// The key of the first certificate, without a password.
  public var privateKey: PEMSource

  /// Whether both belong together is found out when a server or a channel is made.
  public init(certificateChain: PEMSource, privateKey: PEMSource) {
    self.certificateChain = certificateChain
    self.privateKey = privateKey
  }
}

/// How a server secures its connections.
public struct ServerTLS: Sendable, Hashable {
  /// What is asked of clients.
  public enum ClientCertificates: Sendable, Hashable {
    /// They are not asked for a certificate.
    case none
    /// One that is given must be valid; none is fine.
    case optional
    /// A handshake without a valid one fails.
    case required
  }

  /// What the server shows.
  public var credentials: TLSCredentials
  /// Whether clients must say who they are.
  public var clientCertificates: ClientCertificates
  /// Who may vouch for clients. `nil`: the system's roots.
  public var trustRoots: PEMSource?
  /// The oldest version that is accepted.
  public var minimumVersion: TLSVersion

  /// Clients need no certificate, unless `clientCertificates` says otherwise.
  public init(
    credentials: TLSCredentials,
    clientCertificates: ClientCertificates = .none,
    trustRoots: PEMSource? = nil,
    minimumVersion: TLSVersion = .tls12
  ) {
    self.credentials = credentials
    self.clientCertificates = clientCertificates
    self.trustRoots = trustRoots
    self.minimumVersion = minimumVersion
  }
}

/// How a channel secures its connections.
public struct ClientTLS: Sendable, Hashable {
  /// Who may vouch for the server. `nil`: the system's roots.
  public var trustRoots: PEMSource?
  /// What to show a server that asks for a certificate.
  public var credentials: TLSCredentials?
  /// The name that the server's certificate must carry, where it is not the target's.
  public var serverNameOverride: String?
  /// The oldest version that is accepted.
  public var minimumVersion: TLSVersion

  /// The system's roots and no certificate of our own, unless they are given.
  public init(
    trustRoots: PEMSource? = nil,
    credentials: TLSCredentials? = nil,
    serverNameOverride: String? = nil,
    minimumVersion: TLSVersion = .tls12
  ) {
    self.trustRoots = trustRoots
    self.credentials = credentials
    self.serverNameOverride = serverNameOverride
    self.minimumVersion = minimumVersion
  }
}
