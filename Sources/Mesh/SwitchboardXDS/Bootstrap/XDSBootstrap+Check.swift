import SwitchboardCall
import SwitchboardNetwork
import SwitchboardText

extension XDSBootstrap {
  /// Throws if the files of a control plane's TLS cannot be used: it could not be asked for anything.
  func checkFiles() throws(GRPCStatus) {
    try Self.checkFiles(servers, at: "xds_servers")
    for (name, authority) in authorities.sorted(by: { $0.key < $1.key }) {
      try Self.checkFiles(authority.servers ?? [], at: "authorities.\(name.excerpt).xds_servers")
    }
  }

  private static func checkFiles(_ servers: [Server], at path: String) throws(GRPCStatus) {
    for (position, server) in servers.enumerated() {
      guard case .tls(let tls) = server.security, tls.trustRoots != nil || tls.credentials != nil else {
        continue
      }
      do throws(GRPCStatus) {
        _ = try TLSContext(client: tls, serverName: "control-plane.invalid")
      } catch {
        let reason = "xDS bootstrap: \(path)[\(position)].channel_creds: \(error.message ?? "\(error.code)")"
        throw GRPCStatus(code: .invalidArgument, message: reason)
      }
    }
  }
}
