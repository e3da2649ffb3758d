import Dispatch
import SwitchboardCall
import SwitchboardNetwork

/// Certificates in files that others renew: they are read again from time to time, and new connections use what they have then.
///
/// The files change together or not at all: what does not fit together, because only a part is written yet, is not used.
///
/// ```swift
/// let files = try FileCertificates(
///   certificateChain: "/certificates/tls.crt", privateKey: "/certificates/tls.key", trustRoots: "/certificates/ca.crt"
/// )
/// var options = ServerOptions()
/// options.tls = ServerTLS(
///   credentials: TLSCredentials(files), clientCertificates: .required, trustRoots: .provider(files)
/// )
/// ```
public final class FileCertificates: CertificateProvider {
  private struct State {
    /// `nil` before there is any that can be used.
    var current: CertificateSet?
    /// What is wrong with the files now, and since how many readings.
    var failure: GRPCStatus?
    var failures = 0
    /// What the log has said of them.
    var reported: GRPCStatus?
  }

  private let certificateChain: String?
  private let privateKey: String?
  private let trustRoots: String?
  private let interval: Duration
  private let logger: Logger
  private let state = Locked(State())
  /// Where these files are read: they may be on a disk that does not answer, and others may not wait for that.
  private let queue = DispatchQueue(label: "switchboard.certificates", qos: .utility)
  /// How often a reading is repeated while the files change.
  private static let attempts = 4

  /// Reads the files, and again after each interval, as long as this object is used. Throws `INVALID_ARGUMENT` if they cannot be
  /// used, such as a pipe, which might make it wait forever, or their names make no sense: a certificate and its key are given
  /// together.
  ///
  /// What goes wrong later is logged to `logger`; by default, as channels log.
  public convenience init(
    certificateChain: String? = nil,
    privateKey: String? = nil,
    trustRoots: String? = nil,
    interval: Duration = .seconds(60),
    logger: Logger? = nil
  ) throws(GRPCStatus) {
    let logger = logger ?? .standardError
    try self.init(certificateChain, privateKey, trustRoots, interval, logger)
    try refresh()
    readLater()
  }

  /// Reads the files, and again after each interval: as long as they cannot be used, it has none.
  package convenience init(
    lateCertificateChain certificateChain: String?,
    privateKey: String?,
    trustRoots: String?,
    interval: Duration,
    logger: Logger
  ) throws(GRPCStatus) {
    try self.init(certificateChain, privateKey, trustRoots, interval, logger)
    do throws(GRPCStatus) { try refresh() } catch {
      // The next reading may be minutes away. Whoever makes this may hold a lock, which the logger must not wait for.
      queue.async { [weak self] in self?.report(error) }
    }
    readLater()
  }

  private init(
    _ certificateChain: String?,
    _ privateKey: String?,
    _ trustRoots: String?,
    _ interval: Duration,
    _ logger: Logger
  ) throws(GRPCStatus) {
    guard (certificateChain == nil) == (privateKey == nil) else {
      throw .invalidOption("FileCertificates: a certificate and its key are given together")
    }
    guard certificateChain != nil || trustRoots != nil else {
      throw .invalidOption("FileCertificates: there is neither a certificate nor trustRoots")
    }
    guard interval >= .milliseconds(1) else {
      throw .invalidOption("FileCertificates: interval is below 1 ms")
    }
    self.certificateChain = certificateChain
    self.privateKey = privateKey
    self.trustRoots = trustRoots
    self.interval = interval
    self.logger = logger
  }

  public func certificates() throws(GRPCStatus) -> CertificateSet {
    let (current, failure) = state.withLock { ($0.current, $0.failure) }
    if let current { return current }
    throw failure ?? .notRead
  }

  /// Reads the files now. Throws and changes nothing if they cannot be used.
  public func refresh() throws(GRPCStatus) {
    do throws(GRPCStatus) {
      let read = try steadyContents()
      let known = state.withLock { $0.current }
      if read != known { try read.validate() }
      state.withLock { $0 = State(current: read) }
    } catch {
      state.withLock { state in
        state.failures = state.failure == error ? state.failures + 1 : 1
        state.failure = error
      }
      throw error
    }
  }

  private func readLater() {
    // The object is not kept by what is scheduled.
    queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: interval.nanoseconds))) {
      [weak self] in
      self?.readAgain()
    }
  }

  private func readAgain() {
    try? refresh()
    let (failure, count) = state.withLock { ($0.failure, $0.failures) }
    // Files are written one after the other: what is wrong once may be right the next time.
    if let failure, count > 1 { report(failure) }
    readLater()
  }

  /// Logs what is wrong, unless the log has said so.
  private func report(_ failure: GRPCStatus) {
    let isKnown = state.withLock { state in
      defer { state.reported = failure }
      return state.reported == failure
    }
    guard !isKnown else { return }
    logger.log(.warning, "certificate files cannot be used", ["reason": "\(failure)"])
  }

  /// What the files have while they do not change.
  private func steadyContents() throws(GRPCStatus) -> CertificateSet {
    var before = try contents()
    for _ in 1..<Self.attempts {
      let now = try contents()
      if now == before { return now }
      before = now
    }
    throw .unsteady
  }

  private func contents() throws(GRPCStatus) -> CertificateSet {
    var set = CertificateSet()
    if let certificateChain, let privateKey {
      set.credentials = TLSCredentials(
        certificateChain: .bytes(try FileContents.read(certificateChain, isRegular: true)),
        privateKey: .bytes(try FileContents.read(privateKey, isRegular: true))
      )
    }
    if let trustRoots { set.trustRoots = .bytes(try FileContents.read(trustRoots, isRegular: true)) }
    return set
  }
}

extension CertificateSet {
  /// Throws unless the key is that of the certificate, and the roots are certificates.
  fileprivate func validate() throws(GRPCStatus) {
    let tls = ClientTLS(trustRoots: trustRoots, credentials: credentials)
    _ = try TLSContext(client: tls, serverName: "certificates.invalid")
  }
}

extension GRPCStatus {
  fileprivate static let unsteady = GRPCStatus(
    code: .unavailable,
    message: "the certificate files change while they are read",
    origin: .library
  )
  fileprivate static let notRead = GRPCStatus(
    code: .unavailable,
    message: "the certificate files have not been read",
    origin: .library
  )
}
