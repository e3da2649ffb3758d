/// Where servers and channels get certificates from that change while they run. `MemoryCertificates` has those that the program gives
/// it, and `FileCertificates` watches files; a program may have its own.
///
/// A provider is asked for each connection that begins, on its event loop: what takes time it has done before. If it throws, or
/// has what cannot be used, new connections use what the ones before them did, and the log says why. Open connections keep the
/// certificates that they began with.
///
/// ```swift
/// let certificates = MemoryCertificates(CertificateSet(credentials: credentials))
/// var options = ServerOptions()
/// options.tls = ServerTLS(credentials: TLSCredentials(certificates))
/// ```
public protocol CertificateProvider: AnyObject, Sendable {
  /// What connections that begin now use.
  func certificates() throws(GRPCStatus) -> CertificateSet
}

/// What a provider of certificates has at one time: all of it belongs together.
public struct CertificateSet: Sendable, Hashable {
  /// The certificate that this side shows, and its key.
  public var credentials: TLSCredentials?
  /// The authorities that may issue the certificates of peers.
  public var trustRoots: PEMSource?

  /// A set of certificates.
  public init(credentials: TLSCredentials? = nil, trustRoots: PEMSource? = nil) {
    self.credentials = credentials
    self.trustRoots = trustRoots
  }
}

/// Certificates that the program itself replaces.
public final class MemoryCertificates: CertificateProvider {
  private let current: Locked<CertificateSet>

  /// Begins with these.
  public init(_ certificates: CertificateSet) { current = Locked(certificates) }

  /// Has others from now on.
  public func replace(with certificates: CertificateSet) { current.withLock { $0 = certificates } }

  public func certificates() -> CertificateSet { current.withLock { $0 } }
}

/// What the providers in options have at one time. Each is asked once, so that what is taken of it belongs together.
private struct ProvidedCertificates {
  private var sets: [ObjectIdentifier: CertificateSet] = [:]

  mutating func credentials(_ credentials: TLSCredentials) throws(GRPCStatus) -> TLSCredentials {
    TLSCredentials(
      certificateChain: try source(
        credentials.certificateChain,
        "certificate",
        \.credentials?.certificateChain
      ),
      privateKey: try source(credentials.privateKey, "private key", \.credentials?.privateKey)
    )
  }

  mutating func roots(_ roots: PEMSource) throws(GRPCStatus) -> PEMSource {
    try source(roots, "trust roots", \.trustRoots)
  }

  private mutating func source(
    _ source: PEMSource,
    _ what: String,
    _ part: (CertificateSet) -> PEMSource?
  ) throws(GRPCStatus) -> PEMSource {
    guard case .provider(let provider) = source else { return source }
    switch part(try set(of: provider)) {
    case nil: throw .providerLacks(what)
    case .provider: throw .nestedProviders
    case .some(let plain): return plain
    }
  }

  private mutating func set(of provider: any CertificateProvider) throws(GRPCStatus) -> CertificateSet {
    if let known = sets[ObjectIdentifier(provider)] { return known }
    let set = try provider.certificates()
    sets[ObjectIdentifier(provider)] = set
    return set
  }
}

extension ServerTLS {
  /// Whether certificates may change by themselves.
  package var hasProvider: Bool {
    credentials.hasProvider || trustRoots?.isProvided == true
  }

  /// The same with what the providers have now.
  package func provided() throws(GRPCStatus) -> ServerTLS {
    var (result, provided) = (self, ProvidedCertificates())
    result.credentials = try provided.credentials(credentials)
    if let trustRoots { result.trustRoots = try provided.roots(trustRoots) }
    return result
  }
}

extension ClientTLS {
  /// Whether certificates may change by themselves.
  package var hasProvider: Bool {
    credentials?.hasProvider == true || trustRoots?.isProvided == true
  }

  /// The same with what the providers have now.
  package func provided() throws(GRPCStatus) -> ClientTLS {
    var (result, provided) = (self, ProvidedCertificates())
    if let credentials { result.credentials = try provided.credentials(credentials) }
    if let trustRoots { result.trustRoots = try provided.roots(trustRoots) }
    return result
  }
}

extension TLSCredentials {
  fileprivate var hasProvider: Bool { certificateChain.isProvided || privateKey.isProvided }
}

extension PEMSource {
  fileprivate var isProvided: Bool { if case .provider = self { true } else { false } }
}

extension GRPCStatus {
  fileprivate static func providerLacks(_ what: String) -> GRPCStatus {
    GRPCStatus(
      code: .invalidArgument,
      message: "TLS: the certificate provider has no \(what), and the options take it from there"
    )
  }

  fileprivate static let nestedProviders = GRPCStatus(
    code: .invalidArgument,
    message: "TLS: what a certificate provider returns is a provider itself: it has to be a file or bytes"
  )
}
