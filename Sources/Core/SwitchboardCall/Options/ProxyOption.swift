/// How a channel reaches its target: directly or through a proxy.
///
/// ```swift
/// var options = ChannelOptions()
/// options.proxy = .http(host: "proxy.example", port: 3128)
/// options.proxy = try ProxyOption("socks5://user:secret@proxy.example")
/// options.proxy = .none
/// ```
///
/// A proxy resolves the names of targets. TLS is between the channel and the server, so the proxy sees only the
/// target's name and port. Unix sockets never use a proxy.
public enum ProxyOption: Hashable, Sendable {
  /// The HTTP proxy that `HTTPS_PROXY` or `https_proxy` names when the channel is made, except for the targets that
  /// `NO_PROXY` or `no_proxy` lists, `localhost`, and loopback addresses.
  case environment
  /// No proxy, whatever the environment says.
  case none
  /// An HTTP proxy, for every target; it opens tunnels with the method CONNECT.
  case http(host: String, port: Int, credentials: ProxyCredentials? = nil)
  /// A SOCKS 5 proxy, for every target.
  case socks5(host: String, port: Int, credentials: ProxyCredentials? = nil)
}

/// The user name and password for a proxy. Descriptions, logs and errors do not show them.
public struct ProxyCredentials: Hashable, Sendable {
  /// The name of the user.
  package let user: String
  /// The password; it may be empty.
  package let password: String

  /// Creates credentials. An HTTP proxy receives them in the Basic scheme, over a plaintext connection.
  public init(user: String, password: String) {
    self.user = user
    self.password = password
  }
}

extension ProxyCredentials: CustomStringConvertible, CustomReflectable {
  /// A constant that reveals nothing about them.
  public var description: String { "credentials" }

  /// Shows neither the user nor the password.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension ProxyOption {
  /// Throws `INVALID_ARGUMENT` if the host or the port is invalid, or if the protocol cannot express the credentials.
  package func validate() throws(GRPCStatus) {
    switch self {
    case .environment, .none: return
    case .http(let host, let port, let credentials):
      try Self.validate(host, port)
      // RFC 7617: the colon separates the user from the password.
      guard let credentials else { return }
      guard !credentials.user.utf8.contains(UInt8(ascii: ":")) else {
        throw .badProxy("its user name contains a colon")
      }
      guard !(credentials.user + credentials.password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7f })
      else {
        throw .badProxy("its credentials contain control characters")
      }
    case .socks5(let host, let port, let credentials):
      try Self.validate(host, port)
      // RFC 1929: the length of each is one byte.
      guard let credentials else { return }
      guard (1...255).contains(credentials.user.utf8.count), credentials.password.utf8.count <= 255 else {
        throw .badProxy("SOCKS 5 requires a user name of 1 to 255 bytes and a password of at most 255")
      }
    }
  }

  private static func validate(_ host: String, _ port: Int) throws(GRPCStatus) {
    guard !host.isEmpty else { throw .badProxy("it has no host") }
    guard !host.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }) else {
      throw .badProxy("its host contains spaces or control characters")
    }
    guard !host.utf8.contains(UInt8(ascii: "/")) else {
      throw .badProxy("its host is a URL: give its name alone, or make the option with try ProxyOption(url)")
    }
    guard (1...65535).contains(port) else { throw .badProxy("its port is not within 1...65535") }
  }
}

extension GRPCStatus {
  package static func badProxy(_ reason: String) -> GRPCStatus {
    .invalidOption("the proxy cannot be used: \(reason)")
  }
}
