/// Where certificates or a key come from, in PEM.
public enum PEMSource: Sendable, Hashable {
  case file(String)
  case bytes([UInt8])
}

/// What both sides of TLS agree on in the end.
public enum TLSVersion: Sendable, Hashable {
  case tls12
  case tls13
}

/// A certificate with those that vouch for it, and its key.
public struct TLSCredentials: Sendable, Hashable {
  /// The certificate first, then the chain up to but without the root.
  public var certificateChain: PEMSource
  public var privateKey: PEMSource

  public init(certificateChain: PEMSource, privateKey: PEMSource) {
    self.certificateChain = certificateChain
    self.privateKey = privateKey
  }
}

/// How a server secures its connections.
public struct ServerTLS: Sendable, Hashable {
  /// What is asked of clients.
  public enum ClientCertificates: Sendable, Hashable {
    case none
    /// One that is given must be valid; none is fine.
    case optional
    case required
  }

  public var credentials: TLSCredentials
  public var clientCertificates: ClientCertificates
  /// Who may vouch for clients. `nil`: the system's roots.
  public var trustRoots: PEMSource?
  public var minimumVersion: TLSVersion

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
  public var minimumVersion: TLSVersion

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
