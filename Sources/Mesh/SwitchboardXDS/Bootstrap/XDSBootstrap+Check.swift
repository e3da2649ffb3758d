import SwitchboardCall
import SwitchboardNetwork
import SwitchboardText
import SwitchboardTransport

extension XDSBootstrap {
  /// Throws if a control plane could not be asked for anything: the files of its TLS cannot be used, or a token could be read on its
  /// way. Returns what reads those files again, which have been read now.
  func check(_ logger: Logger) throws(GRPCStatus) -> [Server: FileCertificates] {
    var found: [Server: FileCertificates] = [:]
    try Self.check(servers, at: "xds_servers", logger, &found)
    for (name, authority) in authorities.sorted(by: { $0.key < $1.key }) {
      let path = "authorities.\(name.excerpt).xds_servers"
      try Self.check(authority.servers ?? [], at: path, logger, &found)
    }
    return found
  }

  private static func check(
    _ servers: [Server],
    at path: String,
    _ logger: Logger,
    _ found: inout [Server: FileCertificates]
  ) throws(GRPCStatus) {
    for (position, server) in servers.enumerated() where found[server] == nil {
      do throws(GRPCStatus) {
        found[server] = try server.check(logger)
      } catch {
        let reason = "xDS bootstrap: \(path)[\(position)].\(error.message ?? "\(error.code)")"
        throw GRPCStatus(code: .invalidArgument, message: reason)
      }
    }
  }
}

extension XDSBootstrap.Server {
  /// Throws what is wrong with a member, by its name. Returns what reads its files again.
  fileprivate func check(_ logger: Logger) throws(GRPCStatus) -> FileCertificates? {
    switch security {
    case .automatic: return nil
    case .plaintext:
      guard tokenFile != nil else { return nil }
      throw .invalid("call_creds", "a token is not sent in plaintext: channel_creds have to be tls")
    case .tls(let tls):
      guard tls.trustRoots != nil || tls.credentials != nil else { return nil }
      do throws(GRPCStatus) {
        if let fileInterval { return try tls.files(every: fileInterval, logger) }
        _ = try TLSContext(client: tls, serverName: "control-plane.invalid")
        return nil
      } catch { throw .invalid("channel_creds", error.message ?? "\(error.code)") }
    }
  }

  /// The security, with files that are read again.
  func security(_ files: FileCertificates?) -> ChannelSecurity {
    guard case .tls(var tls) = security, let files else { return security }
    if tls.trustRoots != nil { tls.trustRoots = .provider(files) }
    if tls.credentials != nil { tls.credentials = TLSCredentials(files) }
    return .tls(tls)
  }
}

extension ClientTLS {
  fileprivate func files(
    every interval: Duration,
    _ logger: Logger
  ) throws(GRPCStatus) -> FileCertificates {
    try FileCertificates(
      certificateChain: credentials?.certificateChain.path,
      privateKey: credentials?.privateKey.path,
      trustRoots: trustRoots?.path,
      interval: interval,
      logger: logger
    )
  }
}

extension PEMSource {
  fileprivate var path: String? { if case .file(let path) = self { path } else { nil } }
}

extension GRPCStatus {
  fileprivate static func invalid(_ member: String, _ reason: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: "\(member): \(reason)")
  }
}
