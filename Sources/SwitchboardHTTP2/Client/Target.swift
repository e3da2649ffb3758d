import SwitchboardCall

/// The target of a channel in gRPC's syntax: `host:port`, `dns:///host:port`, `ipv4:1.2.3.4:80`, `ipv6:[::1]:80`
/// (several, separated by commas), `unix:path`, or `unix-abstract:name`.
struct Target: Sendable, Equatable {
  enum Place: Sendable, Equatable {
    case name(host: String, port: Int)
    case addresses([SocketAddress])
  }

  let place: Place
  /// The default for `:authority`, and the name that the server's certificate must have.
  let authority: String
  let host: String

  /// The target's name in messages: with the port, or the path of the socket.
  var shown: String {
    switch place {
    case .name(let host, let port): "\(host):\(port)"
    case .addresses(let addresses): addresses.map(\.endpoint).joined(separator: ", ")
    }
  }

  init(_ text: String) throws(GRPCStatus) {
    if text.hasPrefix("unix:") {
      self = try Self.unix(text)
    } else if text.hasPrefix("unix-abstract:") {
      self = try Self.unixAbstract(text)
    } else if text.hasPrefix("ipv4:") || text.hasPrefix("ipv6:") {
      self = try Self.numeric(text)
    } else {
      self = try Self.named(text)
    }
  }

  private init(place: Place, authority: String, host: String) {
    self.place = place
    self.authority = authority
    self.host = host
  }

  private static func unix(_ text: String) throws(GRPCStatus) -> Target {
    var path = text.dropFirst("unix:".count)
    // `unix:path`, or `unix://` and an absolute path.
    if path.hasPrefix("//") {
      path = path.dropFirst(2)
      guard path.hasPrefix("/") else { throw .badTarget(text) }
    }
    guard !path.isEmpty, let address = SocketAddress.unix(path: String(path)) else { throw .badTarget(text) }
    return Target(place: .addresses([address]), authority: "localhost", host: "localhost")
  }

  private static func unixAbstract(_ text: String) throws(GRPCStatus) -> Target {
    let name = text.dropFirst("unix-abstract:".count)
    guard !name.isEmpty, let address = SocketAddress.unix(abstractName: String(name)) else {
      throw .badTarget(text)
    }
    return Target(place: .addresses([address]), authority: "localhost", host: "localhost")
  }

  private static func numeric(_ text: String) throws(GRPCStatus) -> Target {
    let list = text.dropFirst("ipv4:".count)
    var addresses: [SocketAddress] = []
    for part in list.split(separator: ",") {
      guard let (host, port) = hostAndPort(part, defaultPort: 443),
        let address = SocketAddress.numeric(host, port: port),
        address.kind == .ip(isV6: text.hasPrefix("ipv6:"))
      else { throw .badTarget(text) }
      addresses.append(address)
    }
    guard let first = addresses.first else { throw .badTarget(text) }
    let authority = list.prefix { $0 != "," }
    return Target(place: .addresses(addresses), authority: String(authority), host: first.host)
  }

  private static func named(_ text: String) throws(GRPCStatus) -> Target {
    var name = text[...]
    if name.hasPrefix("dns:") {
      name = name.dropFirst("dns:".count)
      // An authority between the slashes would name a DNS server. Channels use those of the system.
      if name.hasPrefix("///") { name = name.dropFirst(3) }
    }
    guard !name.contains("/"), let (host, port) = hostAndPort(name, defaultPort: 443), !host.isEmpty else {
      throw .badTarget(text)
    }
    if let address = SocketAddress.numeric(host, port: port) {
      return Target(place: .addresses([address]), authority: String(name), host: host)
    }
    return Target(place: .name(host: host, port: port), authority: String(name), host: host)
  }

  static func hostAndPort(_ text: Substring, defaultPort: Int) -> (String, Int)? {
    var host = text
    var port = defaultPort
    let lastColon = text.lastIndex(of: ":")
    let bracket = text.lastIndex(of: "]")
    let isBareV6 = bracket == nil && text.count(where: { $0 == ":" }) > 1
    if let lastColon, !isBareV6, bracket.map({ $0 < lastColon }) ?? true {
      guard let number = Int(text[text.index(after: lastColon)...]), (0...65535).contains(number) else {
        return nil
      }
      host = text[..<lastColon]
      port = number
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    return (String(host), port)
  }
}

extension GRPCStatus {
  static func badTarget(_ text: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: "not a target that can be connected to: \"\(text)\"")
  }
}
