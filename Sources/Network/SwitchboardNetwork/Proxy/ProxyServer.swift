import SwitchboardBalancing
import SwitchboardCall

/// A proxy that a channel uses.
package struct ProxyServer: Sendable, Equatable {
  enum Language: String, Sendable {
    case http = "HTTP"
    case socks5 = "SOCKS 5"
  }

  let language: Language
  let host: String
  let port: Int
  let credentials: ProxyCredentials?

  /// `nil` if the option names none.
  init?(_ option: ProxyOption) {
    switch option {
    case .environment, .none: return nil
    case .http(let host, let port, let credentials):
      self.init(language: .http, host: host, port: port, credentials: credentials)
    case .socks5(let host, let port, let credentials):
      self.init(language: .socks5, host: host, port: port, credentials: credentials)
    }
  }

  /// The HTTP proxy at an address; `nil` unless that is an internet address or a name.
  init?(at address: EndpointAddress) {
    switch address {
    case .ipv4, .ipv6, .name:
      self.init(language: .http, host: address.host, port: Int(address.port ?? 0), credentials: nil)
    case .unix, .unixAbstract, .proxied, .secured: return nil
    }
  }

  private init(language: Language, host: String, port: Int, credentials: ProxyCredentials?) {
    self.language = language
    self.host = host
    self.port = port
    self.credentials = credentials
  }

  /// The proxy in messages.
  package var shown: String { "the proxy \(host.contains(":") ? "[\(host)]" : host):\(port)" }

  /// Where to connect.
  var socketDestination: ProxyRoute.SocketDestination {
    SocketAddress.numeric(host, port: port).map { .addresses([$0]) } ?? .name(host: host, port: port)
  }

  /// The negotiation with the proxy for a tunnel to `destination`.
  func dialogue(to destination: ProxyDestination) -> any ProxyDialogue {
    switch language {
    case .http: HTTPConnect(to: destination, credentials)
    case .socks5: SOCKS5(to: destination, credentials)
    }
  }
}

/// The destination of a tunnel.
struct ProxyDestination: Sendable, Equatable {
  /// A name or a numeric address.
  let host: String
  let port: Int
  /// The 4 or 16 bytes of an address.
  let ipBytes: [UInt8]?

  /// `nil` for a Unix socket, which is never reached through a proxy.
  init?(_ address: EndpointAddress) throws(GRPCStatus) {
    if case .name(let host, let port) = address.way {
      try self.init(name: host, port: Int(port))
    } else if let address = SocketAddress(address) {
      self.init(address)
    } else {
      return nil
    }
  }

  init?(_ address: SocketAddress) {
    guard let ipBytes = address.ipBytes else { return nil }
    host = address.host
    port = address.port
    self.ipBytes = ipBytes
  }

  /// Throws `INVALID_ARGUMENT` if the name cannot be sent to a proxy: it must not contain line breaks or be longer than
  /// SOCKS allows.
  init(name: String, port: Int) throws(GRPCStatus) {
    guard name.utf8.count <= 255, name.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw .invalidOption(
        "a proxy can only be asked for names of up to 255 ASCII characters: \(name.debugDescription)"
      )
    }
    host = name
    self.port = port
    ipBytes = nil
  }

  /// The destination in HTTP's form.
  var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
