import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

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
    guard let bytes = PercentEncoding.decodeStrictly(Array(text.utf8)),
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
