import SwitchboardBalancing
import SwitchboardText

/// What is wrong with a text that a user wrote for a server, and what to write instead.
///
/// It finds what a channel would refuse in a program's terms, or look up as a name. What it does not find is left to the
/// channel.
struct TargetMistake: Hashable {
  let reason: String
  /// What was meant, or an example of it.
  var suggestion: String?

  /// The schemes of URLs, and whether they ask for TLS.
  static let urls: [(scheme: String, usesTLS: Bool)] = [
    ("http", false), ("https", true), ("grpc", false), ("grpcs", true),
  ]
  /// The schemes of gRPC that a channel has.
  static let schemes = ["dns", "ipv4", "ipv6", "unix", "unix-abstract", "passthrough"]
  private static let example = "localhost:50051"

  /// Nil if nothing is wrong with the text.
  init?(in text: String) {
    if text.isEmpty {
      self.init("it is empty", Self.example)
    } else if text.contains("@"), !text.isSocket {
      self.init("gRPC has no user in a target; send credentials as metadata, with -H @FILE", nil)
    } else if let server = text.beforeQuery {
      // A query may be a secret, and is shown nowhere.
      self = TargetMistake(in: server) ?? TargetMistake("a server of gRPC has no query", server)
    } else if text.unicodeScalars.contains(where: { $0.properties.isWhitespace }) {
      let joined = String(
        String.UnicodeScalarView(text.unicodeScalars.filter { !$0.properties.isWhitespace })
      )
      self.init("it has a space", joined)
    } else if let (scheme, rest) = text.schemeAndRest {
      self.init(scheme: scheme.lowercased(), rest: String(rest))
    } else {
      self.init(withoutSlashes: text)
    }
  }

  private init(_ reason: String, _ suggestion: String?) {
    self.reason = reason
    self.suggestion = suggestion
  }

  /// The failure for a text with this mistake.
  func failure(_ text: String) -> Failure {
    // What stands before an `@` may be a password.
    let shown = text.contains("@") ? "TARGET" : "'\(text.beforeQuery.map { $0 + "?…" } ?? text)'"
    return Failure(
      "\(shown) is not a server: \(reason)",
      hints: suggestion.map { ["Write '\($0)'."] } ?? [],
      code: .usage
    )
  }

  // MARK: SCHEME://REST

  private init?(scheme: String, rest: String) {
    if Self.urls.contains(where: { $0.scheme == scheme }) {
      self.init(url: scheme, rest)
    } else if scheme.hasPrefix("unix"), Self.schemes.contains(scheme) {
      guard !rest.hasPrefix("/") else { return nil }
      // A slash is missing more often than two are too many.
      self.init("a path follows the colon at once", "\(scheme):\(scheme == "unix" ? "/" : "")\(rest)")
    } else {
      guard !Self.schemes.contains(scheme) else { return nil }
      let known = Self.urls.map(\.scheme) + Self.schemes.dropLast()
      let near = NearNames(of: scheme, in: known).best
      self.init(
        "the scheme '\(scheme)' is unknown; there are \(known.joined(separator: ", "))",
        near.map { "\($0)://\(rest)" }
      )
    }
  }

  private init?(url scheme: String, _ rest: String) {
    let host = String(rest.prefix { $0 != "/" })
    let tail = rest.dropFirst(host.count)
    if host.isEmpty {
      self.init("the host is missing", "\(scheme)://\(Self.example)")
    } else if !tail.isEmpty, tail != "/" {
      // Without it, the call would go elsewhere than the URL says.
      self.init("a URL of a gRPC server has no path", "\(scheme)://\(host)")
    } else if host.hasPrefix("ipv4:") || host.hasPrefix("ipv6:") {
      // So servers of this library print their addresses.
      return nil
    } else {
      self.init(host: host, after: "\(scheme)://")
    }
  }

  // MARK: HOST[:PORT]

  private init?(withoutSlashes text: String) {
    let head = text.prefix { $0 != ":" && $0 != "/" }
    let scheme = head.lowercased()
    let rest = text.dropFirst(head.count)
    let isURL = Self.urls.contains { $0.scheme == scheme }
    if isURL, rest.hasPrefix("//") || rest.hasPrefix(":"), !Self.isPort(rest.dropFirst()) {
      let host = rest.drop { $0 == ":" || $0 == "/" }
      self.init(
        "two slashes and a host follow '\(scheme):'",
        "\(scheme)://\(host.isEmpty ? Self.example[...] : host)"
      )
    } else if rest.hasPrefix(":"), Self.schemes.contains(scheme) {
      guard scheme.hasPrefix("unix"), rest == ":" else { return nil }
      self.init("the socket is missing after the colon", scheme == "unix" ? "unix:/run/server.sock" : nil)
    } else if let flag = Self.flag(forFile: text) {
      self.init(
        TextOrFile.isFile(text) ? "it is a file" : "it ends as the names of files do",
        "\(flag) \(text)"
      )
    } else if text.hasPrefix("/") || text.hasPrefix("./") || text.hasPrefix("../") {
      self.init("the path of a socket follows 'unix:'", "unix:\(text)")
    } else if text.contains("/") {
      let host = String(text.prefix { $0 != "/" })
      self.init(
        "it has a slash; TARGET is HOST[:PORT], and the name of a method comes after it",
        host.contains(":") ? host : nil
      )
    } else if text.contains(",") {
      self.init(addresses: text)
    } else {
      self.init(host: text, after: "")
    }
  }

  private init(addresses text: String) {
    if text.utf8.contains(where: \.isLetter) {
      let reason = "several servers have one name in DNS, or are addresses after 'ipv4:' or 'ipv6:'"
      self.init(reason, "\(text.prefix { $0 != "," })")
    } else {
      self.init("several addresses follow 'ipv4:' or 'ipv6:'", "ipv4:\(text)")
    }
  }

  /// The flag for what is a file of descriptors by its name.
  private static func flag(forFile text: String) -> String? {
    if text.hasSuffix(".proto") { return "--proto" }
    let isSet = [".binpb", ".pb", ".protoset", ".desc"].contains(where: text.hasSuffix)
    return isSet && TextOrFile.isFile(text) ? "--descriptor-set" : nil
  }

  private init?(host text: String, after prefix: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    if text.hasPrefix("[") || parts.count > 2 {
      self.init(v6: text, after: prefix)
    } else if parts.count == 2, parts[0].isEmpty {
      self.init(
        "the host is missing before the port",
        "\(prefix)localhost:\(parts[1].isEmpty ? "50051" : parts[1])"
      )
    } else if parts.count == 2, parts[1].isEmpty {
      self.init("the port is missing after the colon", "\(prefix)\(parts[0]):50051")
    } else if parts.count == 2, !Self.isPort(parts[1]) {
      self.init("'\(parts[1])' is not a port, a number from 1 to 65535", "\(prefix)\(parts[0]):50051")
    } else if let host = parts.first, HostAndPort.isShortAddress(host) {
      self.init(
        "'\(host)' is not an address of IPv4, which has four numbers",
        HostAndPort.longAddress(host).map { "\(prefix)\($0)\(text.dropFirst(host.count))" }
      )
    } else {
      return nil
    }
  }

  /// An address of IPv6, in brackets or without, or a text with too many colons.
  private init?(v6 text: String, after prefix: String) {
    guard text.hasPrefix("[") else {
      guard EndpointAddress(ip: text, port: 0) == nil else { return nil }
      let last = text[text.index(after: text.lastIndex(of: ":") ?? text.startIndex)...]
      let host = text.dropLast(last.count + 1)
      let isAddress = EndpointAddress(ip: host, port: 0) != nil
      if isAddress {
        self.init("an address of IPv6 with a port has brackets", "\(prefix)[\(host)]:\(last)")
      } else {
        // Of several ports, the first is next to the host.
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let port = parts.dropFirst().first(where: Self.isPort) ?? last
        self.init("it has more than one colon", "\(prefix)\(parts[0]):\(port)")
      }
      return
    }
    guard let bracket = text.firstIndex(of: "]") else {
      self.init("the bracket is not closed", "\(prefix)\(text)]:50051")
      return
    }
    let tail = text[text.index(after: bracket)...]
    guard !tail.isEmpty, !(tail.hasPrefix(":") && Self.isPort(tail.dropFirst())) else { return nil }
    self.init("a colon and a port follow the bracket", "\(prefix)\(text[...bracket]):50051")
  }

  private static func isPort(_ text: Substring) -> Bool {
    guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return false
    }
    return Int(text).map { (1...65535).contains($0) } ?? false
  }
}

extension String {
  /// Whether it names a socket, which may have any characters.
  fileprivate var isSocket: Bool { hasPrefix("unix:") || hasPrefix("unix-abstract:") }

  /// What stands before the query or the fragment of a URL; nil if there is neither.
  fileprivate var beforeQuery: String? {
    guard !isSocket, let end = firstIndex(where: { $0 == "?" || $0 == "#" })
    else { return nil }
    return String(self[..<end])
  }
}
