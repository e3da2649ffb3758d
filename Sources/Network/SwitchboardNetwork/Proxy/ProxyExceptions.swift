/// The destinations that need no proxy: a comma-separated list of names, suffixes of names, addresses and CIDR blocks.
/// A name or an address may have a port. A star matches everything.
///
/// | Entry | Matches |
/// |---|---|
/// | `example.com` | the name, and all names below it |
/// | `.example.com`, `*.example.com` | all names below it |
/// | `10.1.2.3`, `::1` | the address |
/// | `10.0.0.0/8`, `fd00::/8` | the addresses in the block |
/// | `example.com:80`, `10.1.2.3:80`, `[::1]:80` | the same with this port alone |
///
/// `localhost` and loopback addresses never need one.
struct ProxyExceptions: Sendable {
  private enum Entry {
    case everything
    case block(address: [UInt8], bits: Int, port: Substring?)
    case name(suffix: String, isWhole: Bool, port: Substring?)
  }

  private let entries: [Entry]

  init(_ list: String) {
    entries = list.split(separator: ",").compactMap { Self.entry($0) }
  }

  func contain(_ destination: ProxyDestination) -> Bool {
    let host = destination.host.lowercased()
    let address = destination.ipBytes.map(SocketAddress.unmapped)
    if host == "localhost" || address.map(SocketAddress.isLoopback) ?? false { return true }
    return entries.contains { entry in
      switch entry {
      case .everything: true
      case .block(let block, let bits, let port):
        address.map { Self.isWithin($0, block, bits) } ?? false && Self.allows(port, destination)
      case .name(let suffix, let isWhole, let port):
        address == nil && (host.hasSuffix(suffix) || isWhole && host == suffix.dropFirst())
          && Self.allows(port, destination)
      }
    }
  }

  private static func allows(_ port: Substring?, _ destination: ProxyDestination) -> Bool {
    port.map { $0 == "\(destination.port)" } ?? true
  }

  // MARK: Entries

  private static func entry(_ text: Substring) -> Entry? {
    let text = trimmed(text)
    if text == "*" { return .everything }
    if let block = block(text) { return block }
    var (host, port) = hostAndPort(text)
    if let address = SocketAddress.numeric(String(host), port: 0)?.ipBytes.map(SocketAddress.unmapped) {
      return .block(address: address, bits: address.count * 8, port: port)
    }
    if host.hasPrefix("*.") { host = host.dropFirst() }
    guard !host.isEmpty else { return nil }
    let isWhole = !host.hasPrefix(".")
    return .name(suffix: (isWhole ? "." : "") + host.lowercased(), isWhole: isWhole, port: port)
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while text.first?.isWhitespace ?? false { text = text.dropFirst() }
    while text.last?.isWhitespace ?? false { text = text.dropLast() }
    return text
  }

  private static func block(_ text: Substring) -> Entry? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let bits = Int(parts[1]), bits >= 0,
      let address = SocketAddress.numeric(String(parts[0]), port: 0)?.ipBytes, bits <= address.count * 8
    else { return nil }
    return .block(address: address, bits: bits, port: nil)
  }

  /// An IPv6 address without brackets has no port.
  private static func hostAndPort(_ text: Substring) -> (Substring, Substring?) {
    var host = text
    var port: Substring?
    if let colon = text.lastIndex(of: ":"), text[..<colon].hasSuffix("]") || !text[..<colon].contains(":") {
      host = text[..<colon]
      port = text[text.index(after: colon)...]
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    return (host, port?.isEmpty ?? true ? nil : port)
  }

  // MARK: Addresses

  private static func isWithin(_ address: [UInt8], _ block: [UInt8], _ bits: Int) -> Bool {
    guard address.count == block.count else { return false }
    let whole = bits / 8
    guard address.prefix(whole) == block.prefix(whole) else { return false }
    guard bits % 8 > 0 else { return true }
    return (address[whole] ^ block[whole]) >> (8 - bits % 8) == 0
  }
}
