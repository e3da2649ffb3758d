import SwitchboardText

/// An address of a server, as a value: nothing is resolved or opened.
public enum EndpointAddress: Hashable, Sendable {
  /// An IPv4 address, such as `0x7F00_0001` for 127.0.0.1.
  case ipv4(UInt32, port: UInt16)
  /// An IPv6 address: its first and its second half, and the number of the interface for a link-local address.
  case ipv6(high: UInt64, low: UInt64, scope: UInt32 = 0, port: UInt16)
  /// The path of a Unix domain socket.
  case unix(path: String)
  /// The name of a Unix domain socket in Linux's abstract namespace, without the leading zero byte.
  case unixAbstract(name: String)

  /// A name that is looked up when a connection is opened, by the proxy if there is one.
  case name(host: String, port: UInt16)

  /// An address, or a name, behind an HTTP proxy of its own, which is asked for a tunnel to it (CONNECT). The channel's own proxy
  /// does not apply to it. `by` is where the proxy is, which is no address behind another.
  indirect case proxied(EndpointAddress, by: EndpointAddress)

  /// An address whose server has a name of its own in TLS: connections ask for it (SNI), and the server's certificate must have it,
  /// instead of the channel's. It means nothing in plaintext.
  indirect case secured(EndpointAddress, as: String)

  /// A numeric IPv4 or IPv6 address, without brackets. `nil` if the text is neither.
  public init?(ip text: some StringProtocol, port: UInt16) {
    let text = Array(text.utf8)
    if let bits = IPText.v4(text[...]) {
      self = .ipv4(bits, port: port)
    } else if let groups = IPText.v6(text[...]) {
      let halves = [groups[0..<4], groups[4..<8]].map { $0.reduce(UInt64(0)) { $0 << 16 | UInt64($1) } }
      self = .ipv6(high: halves[0], low: halves[1], port: port)
    } else {
      return nil
    }
  }

  /// Whether it is an IPv6 address.
  package var isIPv6: Bool { if case .ipv6 = way { true } else { false } }

  /// Whether it is an internet address.
  package var isIP: Bool {
    switch self {
    case .ipv4, .ipv6: true
    case .unix, .unixAbstract, .name, .proxied: false
    case .secured(let address, _): address.isIP
    }
  }

  /// The address itself, without the proxy that it may be behind, and without a name in TLS.
  package var bare: EndpointAddress {
    switch self {
    case .proxied(let address, _), .secured(let address, _): address.bare
    case .ipv4, .ipv6, .unix, .unixAbstract, .name: self
    }
  }

  /// The way to the server: the address without a name in TLS.
  package var way: EndpointAddress { if case .secured(let address, _) = self { address.way } else { self } }

  /// The name that the server's TLS is asked for; `nil`: that of the channel.
  package var tlsName: String? {
    switch self {
    case .secured(_, let name): name
    case .proxied(let address, _): address.tlsName
    case .ipv4, .ipv6, .unix, .unixAbstract, .name: nil
    }
  }

  /// The port; `nil` for a Unix domain socket.
  public var port: UInt16? {
    switch self {
    case .ipv4(_, let port), .ipv6(_, _, _, let port), .name(_, let port): port
    case .unix, .unixAbstract: nil
    case .proxied(let address, _), .secured(let address, _): address.port
    }
  }

  /// The address without its port, or the socket's path.
  public var host: String {
    switch self {
    case .ipv4(let bits, _): IPText.write(v4: bits)
    case .ipv6(let high, let low, let scope, _): IPText.write(v6: high, low) + (scope == 0 ? "" : "%\(scope)")
    case .unix(let path): path
    case .unixAbstract(let name): name
    case .name(let host, _): host
    case .proxied(let address, _), .secured(let address, _): address.host
    }
  }
}

extension EndpointAddress: CustomStringConvertible {
  /// As in a target's name: `127.0.0.1:80`, `[::1]:80`, `unix:/path`, `unix-abstract:name`; one behind a proxy with that:
  /// `127.0.0.1:80 by 127.0.0.1:3128`; one with a name in TLS with that: `127.0.0.1:80 as shop.example`.
  public var description: String {
    switch self {
    case .ipv4(_, let port), .name(_, let port): "\(host):\(port)"
    case .ipv6(_, _, _, let port): "[\(host)]:\(port)"
    case .unix(let path): "unix:\(path)"
    case .unixAbstract(let name): "unix-abstract:\(name)"
    case .proxied(let address, let proxy): "\(address) by \(proxy)"
    case .secured(let address, let name): "\(address) as \(name)"
    }
  }
}

/// The text form of internet addresses (RFC 4291 and RFC 5952).
private enum IPText {
  static func v4(_ text: ArraySlice<UInt8>) -> UInt32? {
    var bits: UInt32 = 0
    var number: UInt32?
    var dots = 0
    for byte in text {
      if byte == UInt8(ascii: ".") {
        guard let part = number, dots < 3 else { return nil }
        bits = bits << 8 | part
        (number, dots) = (nil, dots + 1)
        continue
      }
      // Some parsers take a number with a leading zero for octal.
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), number != 0 else { return nil }
      let next = (number ?? 0) * 10 + UInt32(byte - UInt8(ascii: "0"))
      guard next <= 255 else { return nil }
      number = next
    }
    guard let part = number, dots == 3 else { return nil }
    return bits << 8 | part
  }

  /// Eight groups.
  static func v6(_ text: ArraySlice<UInt8>) -> [UInt16]? {
    guard text.count <= 45 else { return nil }
    let colon = UInt8(ascii: ":")
    var gap: Int?
    for index in text.indices.dropLast() where text[index] == colon && text[index + 1] == colon {
      guard gap == nil else { return nil }
      gap = index
    }
    guard let gap else { return groups(text, atEnd: true).flatMap { $0.count == 8 ? $0 : nil } }
    guard let before = groups(text[..<gap], atEnd: false), let after = groups(text[(gap + 2)...], atEnd: true)
    else { return nil }
    let missing = 8 - before.count - after.count
    guard missing >= 1 else { return nil }
    return before + Array(repeating: 0, count: missing) + after
  }

  /// The last group of the whole address may be an IPv4 address, which counts as two.
  private static func groups(_ text: ArraySlice<UInt8>, atEnd: Bool) -> [UInt16]? {
    guard !text.isEmpty else { return [] }
    var groups: [UInt16] = []
    let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    for (position, part) in parts.enumerated() {
      if atEnd, position == parts.count - 1, let bits = v4(part) {
        groups += [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
        continue
      }
      guard part.count <= 4, let group = Hex.number(part) else { return nil }
      groups.append(UInt16(truncatingIfNeeded: group))
    }
    return groups
  }

  static func write(v4 bits: UInt32) -> String {
    "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
  }

  static func write(v6 high: UInt64, _ low: UInt64) -> String {
    if high == 0, low >> 32 == 0xFFFF { return "::ffff:" + write(v4: UInt32(truncatingIfNeeded: low)) }
    let groups = [high, low].flatMap { half in
      [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: half >> UInt64($0)) }
    }
    guard let zeros = longestZeros(groups) else { return hex(groups[...]) }
    return hex(groups[..<zeros.lowerBound]) + "::" + hex(groups[zeros.upperBound...])
  }

  private static func hex(_ groups: ArraySlice<UInt16>) -> String {
    groups.map { String($0, radix: 16) }.joined(separator: ":")
  }

  /// The first of the longest runs of at least two zeros.
  private static func longestZeros(_ groups: [UInt16]) -> Range<Int>? {
    var longest = 0..<0
    var start = 0
    for (position, group) in groups.enumerated() {
      if group != 0 { start = position + 1 }
      if position + 1 - start > longest.count { longest = start..<position + 1 }
    }
    return longest.count > 1 ? longest : nil
  }
}
