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

// MARK: - From a URL

extension String {
  /// What is before and after the first `://`. Found without `firstRange(of:)`, which brings Swift's regular expressions.
  package var schemeAndRest: (scheme: Substring, rest: Substring)? {
    guard let mark = indices.first(where: { self[$0...].hasPrefix("://") }) else { return nil }
    return (self[..<mark], self[index(mark, offsetBy: 3)...])
  }
}

extension ProxyOption {
  /// Parses a URL: `http://` or `socks5://`, percent-encoded credentials, the host and the port. The default scheme is
  /// `http`; the default port is 80 or 1080.
  ///
  /// Throws `INVALID_ARGUMENT`. The message does not quote the URL, which may contain a password.
  public init(_ url: String) throws(GRPCStatus) {
    let parts = url.schemeAndRest
    var authority = parts?.rest ?? url[...]
    if authority.last == "/" { authority = authority.dropLast() }
    guard !authority.contains(where: { "/?#".contains($0) }) else { throw .badProxy("its URL has a path") }
    var credentials: ProxyCredentials?
    if let at = authority.lastIndex(of: "@") {
      credentials = try Self.credentials(authority[..<at])
      authority = authority[authority.index(after: at)...]
    }
    let (host, port) = try Self.hostAndPort(authority)
    switch parts?.scheme.lowercased() {
    case nil, "http": self = .http(host: host, port: port ?? 80, credentials: credentials)
    case "socks5", "socks5h": self = .socks5(host: host, port: port ?? 1080, credentials: credentials)
    default: throw .badProxy("the scheme of its URL is neither http nor socks5")
    }
    try validate()
  }

  private static func credentials(_ text: Substring) throws(GRPCStatus) -> ProxyCredentials? {
    if text.isEmpty { return nil }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    return ProxyCredentials(user: try decoded(parts[0]), password: try decoded(parts.dropFirst().first ?? ""))
  }

  private static func decoded(_ text: Substring) throws(GRPCStatus) -> String {
    guard let bytes = PercentEncoding.decodeStrictly(text.utf8),
      let decoded = String(validating: bytes, as: UTF8.self)
    else { throw .badProxy("its URL has credentials that are not percent-encoded") }
    return decoded
  }

  private static func hostAndPort(_ text: Substring) throws(GRPCStatus) -> (String, Int?) {
    var host = text
    var port: Int?
    if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
      let digits = text[text.index(after: colon)...]
      host = text[..<colon]
      guard host.hasSuffix("]") || !host.contains(":") else {
        throw .badProxy("its URL has an IPv6 address without brackets")
      }
      guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits) else {
        throw .badProxy("its URL has a port that is not a number")
      }
      port = number
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    return (String(host), port)
  }
}

// MARK: - Validation

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
    guard (1...65535).contains(port) else { throw .badProxy("its port is not within 1...65535") }
  }
}

extension GRPCStatus {
  fileprivate static func badProxy(_ reason: String) -> GRPCStatus {
    .invalidOption("the proxy cannot be used: \(reason)")
  }
}
