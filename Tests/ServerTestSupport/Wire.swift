import CertificateSupport
import Glibc
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport

/// The connections that the same suite runs over.
package enum Wire: CaseIterable, Sendable {
  case ipv4, ipv6, unix, unixAbstract, tls, inProcess

  /// Without a connection, the server listens nevertheless.
  func bind(_ server: Server) throws -> SocketAddress {
    switch self {
    case .ipv4, .tls, .inProcess: try server.bind(host: "127.0.0.1", port: 0)
    case .ipv6: try server.bind(host: "::1", port: 0)
    case .unix: try server.bind(unixPath: "/tmp/\(Self.name()).sock")
    case .unixAbstract: try server.bind(unixAbstractName: Self.name())
    }
  }

  private static func name() -> String { "switchboard-\(getpid())-\(UInt64.random(in: 0...UInt64.max))" }

  /// With the tests' certificate, if the connection is secure and the options have none.
  func secured(_ options: ServerOptions) -> ServerOptions {
    var options = options
    if self == .tls { options.tls = options.tls ?? ServerTLS(credentials: TestCertificates.server) }
    return options
  }

  /// With the tests' authority, if the connection is secure and the options do not say how.
  func secured(_ options: ChannelOptions) -> ChannelOptions {
    var options = options
    if self == .tls, options.security == .automatic {
      options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority))
    }
    return options
  }
}
