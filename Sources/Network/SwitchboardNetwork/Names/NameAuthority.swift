import SwitchboardBalancing
import SwitchboardCall

/// The name servers in a target: `dns://AUTHORITY/name`.
enum NameAuthority {
  static let maxServers = 8
  private static let defaultPort: UInt16 = 53

  /// Parses the servers, whose number is limited. Throws an error that contains the authority if it is invalid.
  static func servers(_ authority: String) throws(GRPCStatus) -> [SocketAddress] {
    var servers: [SocketAddress] = []
    for part in authority.split(separator: ",", omittingEmptySubsequences: false) {
      guard servers.count < maxServers, let server = server(part) else { throw .badAuthority(authority) }
      servers.append(server)
    }
    return servers
  }

  private static func server(_ text: Substring) -> SocketAddress? {
    // c-ares does not support scopes of addresses (`fe80::1%eth0`).
    guard !text.contains("%"), let parts = HostAndPort(text, defaultPort: defaultPort), parts.port > 0
    else { return nil }
    return SocketAddress.numeric(parts.host, port: Int(parts.port))
  }
}

extension GRPCStatus {
  fileprivate static func badAuthority(_ text: String) -> GRPCStatus {
    GRPCStatus(
      code: .invalidArgument,
      message: "not the address of a name server, nor up to \(NameAuthority.maxServers) of them: \"\(text)\""
    )
  }
}
