import SwitchboardCall
import SwitchboardText

/// The target of a channel, in gRPC's syntax for names: `scheme:[//authority/]endpoint`.
///
/// If no resolver is registered for the scheme of a text, the whole text is a DNS name.
public struct Target: Hashable, Sendable {
  /// The scheme, which selects the resolver, such as `dns`.
  public let scheme: String
  /// The text between `//` and the next `/`; for `dns`, the name server. Empty if there is none.
  public let authority: String
  /// The name to resolve, such as `greeter.example:443`, without the slash after the authority.
  public let endpoint: String
  /// The whole text.
  public let text: String

  /// The text with its scheme, as in gRPC's metrics.
  package var canonical: String { endpoint == text ? "\(scheme):///\(text)" : text }

  /// Parses `text`. If its scheme is not in `schemes`, as in `localhost:80`, the whole text is a name for the scheme
  /// `fallback`.
  package init(_ text: String, schemes: Set<String>, fallback: String) throws(GRPCStatus) {
    guard text.utf8.count <= 4096 else {
      throw .badTarget(text.excerpt(40), "it is longer than 4096 bytes")
    }
    self.text = text
    let colon = text.firstIndex(of: ":")
    guard let colon, schemes.contains(text[..<colon].lowercased()) else {
      guard !text.isEmpty else { throw .badTarget(text, "it is empty") }
      if let hint = TargetHint(ofURL: text) { throw .badTarget(text, hint.text) }
      guard text.schemeAndRest == nil else {
        let scheme = String(text.prefix { $0 != ":" })
        let near =
          scheme == "xds"
          ? "; set ChannelOptions.resolvers to [XDSResolver()], from the product SwitchboardXDS"
          : NearNames(of: scheme, in: schemes.sorted()).best.map { " (did you mean \($0)?)" } ?? ""
        throw .badTarget(text, "no resolver is registered for the scheme \(scheme)\(near)")
      }
      (scheme, authority, endpoint) = (fallback, "", text)
      return
    }
    scheme = text[..<colon].lowercased()
    let rest = text[text.index(after: colon)...]
    guard rest.hasPrefix("//") else {
      (authority, endpoint) = ("", String(rest))
      return
    }
    let afterSlashes = rest.dropFirst(2)
    guard let slash = afterSlashes.firstIndex(of: "/") else {
      throw .badTarget(text, "it has two slashes; write \"\(scheme):///\(afterSlashes)\", with three")
    }
    authority = String(afterSlashes[..<slash])
    endpoint = String(afterSlashes[afterSlashes.index(after: slash)...])
  }

  /// The target that is this name or address, for the resolver of names.
  package init(dns name: EndpointAddress) {
    (scheme, authority, endpoint) = ("dns", "", "\(name)")
    text = "dns:///\(endpoint)"
  }

  /// Whether its name says that all its servers are on this machine. Nothing is resolved.
  package var isOnThisMachine: Bool {
    switch scheme {
    case "unix", "unix-abstract": true
    case "dns", "passthrough", "ipv4", "ipv6":
      endpoint.split(separator: ",").allSatisfy { HostAndPort($0)?.isOnThisMachine ?? false }
    default: false
    }
  }
}

/// A host and a port, as in targets.
package struct HostAndPort: Hashable, Sendable {
  /// Whether a host is an address of IPv4 in another form than four decimal numbers, such as `127.1` or `0x7f.0.0.1`. Browsers
  /// write it with four, and resolvers may not know it.
  package static func isShortAddress(_ host: Substring) -> Bool {
    guard let last = host.utf8.split(separator: UInt8(ascii: ".")).last else { return false }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let isNumber = last.allSatisfy(digits.contains) || last.starts(with: "0x".utf8)
    return isNumber && EndpointAddress(ip: host, port: 0) == nil
  }

  /// What an address with fewer numbers than four stands for; nil if it has others than decimal ones.
  package static func longAddress(_ host: Substring) -> String? {
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    guard (2...3).contains(numbers.count), numbers.allSatisfy({ UInt8($0) != nil }) else { return nil }
    let zeros = repeatElement(Substring("0"), count: 4 - numbers.count)
    return (numbers.dropLast() + zeros + numbers.suffix(1)).joined(separator: ".")
  }

  package let host: String
  package let port: UInt16

  /// Parses `host`, `host:port`, `[v6]:port`, `[v6]` or a bare IPv6 address; `nil` for any other text.
  package init?(_ text: String, defaultPort: UInt16 = 443) { self.init(text[...], defaultPort: defaultPort) }

  package init?(_ text: Substring, defaultPort: UInt16 = 443) {
    var host = text
    var port = defaultPort
    let lastColon = text.lastIndex(of: ":")
    let bracket = text.lastIndex(of: "]")
    if let lastColon, !text.isUnbracketed, bracket.map({ $0 < lastColon }) ?? true {
      let digits = text[text.index(after: lastColon)...]
      // As a number of 64 bits, like those in service configs: the standard library's parser is compiled again for each
      // integer type.
      guard digits.allSatisfy({ $0.isASCII && $0.isNumber }),
        let number = Int64(digits).flatMap(UInt16.init(exactly:))
      else { return nil }
      host = text[..<lastColon]
      port = number
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty, !host.contains("/") else { return nil }
    self.host = String(host)
    self.port = port
  }
}

extension HostAndPort {
  /// The host and the port that a target names. Brackets are required around an address of IPv6: without them, its last
  /// group may be meant for a port.
  package init(in target: Target) throws(GRPCStatus) {
    guard !target.endpoint.isUnbracketed, let parts = HostAndPort(target.endpoint) else {
      throw .badHost(target.endpoint, in: target.text)
    }
    // No name consists of numbers alone.
    if let hint = TargetHint(ofShortAddress: parts) { throw .badTarget(target.text, hint.text) }
    guard parts.port > 0 else { throw .badTarget(target.text, TargetHint.portOfServers) }
    self = parts
  }

  /// Whether the host is a loopback address or `localhost`, or the address of servers that listen at all addresses, by which a
  /// client gets to its own machine. Names below `localhost` are looked up as others are: whoever answers may lead them anywhere.
  fileprivate var isOnThisMachine: Bool {
    switch EndpointAddress(ip: host, port: port) {
    case .ipv4(let bits, _): bits >> 24 == 127 || bits == 0
    case .ipv6(let high, let low, _, _): high == 0 && (low <= 1 || low >> 24 == 0xffff7f)
    default: host.utf8.count == 9 && host.lowercased().utf8.elementsEqual("localhost".utf8)
    }
  }
}

extension GRPCStatus {
  package static func badTarget(_ text: String, _ reason: String) -> GRPCStatus {
    GRPCStatus(
      code: .invalidArgument,
      message: "not a target that can be connected to: \"\(text)\": \(reason)"
    )
  }
}

extension StringProtocol {
  /// Whether the text has several colons, as addresses of IPv6 do, and no brackets.
  var isUnbracketed: Bool {
    !utf8.contains(UInt8(ascii: "]")) && utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1
  }
}

extension String {
  /// What is before and after the first `://`. Found without `firstRange(of:)`, which brings Swift's regular expressions.
  package var schemeAndRest: (scheme: Substring, rest: Substring)? {
    guard let mark = indices.first(where: { self[$0...].hasPrefix("://") }) else { return nil }
    return (self[..<mark], self[index(mark, offsetBy: 3)...])
  }
}
