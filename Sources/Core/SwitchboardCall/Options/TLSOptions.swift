/// The source of certificates or a key, in PEM.
public enum PEMSource: Sendable, Hashable {
  /// The path of a file, read when a server or a channel is made.
  case file(String)
  /// The contents of such a file.
  case bytes([UInt8])
  /// What a provider has when a connection begins: the certificates, the key or the roots, by where this stands.
  case provider(any CertificateProvider)

  /// Providers are the same if they are one object.
  public static func == (left: PEMSource, right: PEMSource) -> Bool {
    switch (left, right) {
    case (.file(let left), .file(let right)): left == right
    case (.bytes(let left), .bytes(let right)): left == right
    case (.provider(let left), .provider(let right)): left === right
    default: false
    }
  }

  /// By the path, the contents or the provider.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .file(let path): hasher.combine(path)
    case .bytes(let bytes): hasher.combine(bytes)
    case .provider(let provider): hasher.combine(ObjectIdentifier(provider))
    }
  }
}

/// The negotiated version of TLS.
public enum TLSVersion: Sendable, Hashable {
  /// RFC 5246.
  case tls12
  /// RFC 8446.
  case tls13
}

/// A certificate with its chain and its key.
public struct TLSCredentials: Sendable, Hashable {
  /// The certificate first, then the intermediate certificates, without the root.
  package let certificateChain: PEMSource
  /// The key of the first certificate, without a password.
  package let privateKey: PEMSource

  /// Creates credentials. The server or the channel that uses them checks whether the key matches.
  public init(certificateChain: PEMSource, privateKey: PEMSource) {
    self.certificateChain = certificateChain
    self.privateKey = privateKey
  }

  /// Those that a provider has when a connection begins.
  public init(_ provider: any CertificateProvider) {
    self.init(certificateChain: .provider(provider), privateKey: .provider(provider))
  }
}

/// The TLS configuration of a server.
///
/// ```swift
/// let tls = ServerTLS(
///   credentials: TLSCredentials(certificateChain: .file("server.pem"), privateKey: .file("server.key")),
///   clientCertificates: .required,
///   trustRoots: .file("clients.pem")
/// )
/// ```
public struct ServerTLS: Sendable, Hashable {
  /// Whether clients must authenticate.
  public enum ClientCertificates: Sendable, Hashable {
    /// Clients are not asked for a certificate.
    case none
    /// Clients may omit the certificate, but one that is sent must be valid.
    case optional
    /// A handshake without a valid certificate fails.
    case required
  }

  /// The server's certificate and key.
  public var credentials: TLSCredentials
  /// Whether clients must authenticate.
  public var clientCertificates: ClientCertificates
  /// The authorities that may issue client certificates: needed if clients are asked for them, and refused otherwise.
  public var trustRoots: PEMSource?
  /// The oldest version to accept.
  public var minimumVersion: TLSVersion

  /// Creates a configuration; by default, clients need no certificate.
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

/// The TLS configuration of a channel.
///
/// ```swift
/// var options = ChannelOptions()
/// options.security = .tls(ClientTLS(trustRoots: .file("roots.pem")))
/// let channel = try Channel(target: "greeter.example:443", options: options)
/// ```
public struct ClientTLS: Sendable, Hashable {
  /// The authorities that may issue the server's certificate. `nil` means the system's roots.
  public var trustRoots: PEMSource?
  /// The certificate for servers that ask for one.
  public var credentials: TLSCredentials?
  /// The name that the server's certificate must have, if it is not the target's.
  public var serverNameOverride: String?
  /// The oldest version to accept.
  public var minimumVersion: TLSVersion
  /// Whether every certificate is accepted. Only the command-line tool sets it, at the user's request.
  package var skipsVerification = false
  /// Decides about a server by the names in its certificate, instead of the name of the target.
  package var nameCheck: ServerNameCheck?

  /// Creates a configuration; by default, with the system's roots and no client certificate.
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
