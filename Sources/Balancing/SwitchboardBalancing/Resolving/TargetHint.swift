import SwitchboardCall

/// What to write instead of a text that is not a target.
struct TargetHint {
  let text: String

  static let portOfServers =
    "port 0 is for servers, for which the system chooses another: write that one, which bind returns"

  private static let schemes: [(name: String, port: UInt16, security: String)] = [
    ("http", 80, ".plaintext"), ("https", 443, ".tls()"), ("grpc", 80, ".plaintext"),
    ("grpcs", 443, ".tls()"),
  ]

  /// A URL: its scheme says something about security, which a target does not.
  init?(ofURL text: String) {
    guard let (scheme, rest) = text.schemeAndRest,
      let known = Self.schemes.first(where: { $0.name.utf8.elementsEqual(scheme.lowercased().utf8) })
    else { return nil }
    let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let written =
      HostAndPort(host, defaultPort: known.port).map { "dns:///\($0.shown)" } ?? "dns:///host:port"
    self.text = "it is a URL; write \"\(written)\", and set ChannelOptions.security to \(known.security)"
  }

  /// A part of a target that consists of addresses.
  init(ofAddress text: Substring) {
    guard !text.utf8.contains(UInt8(ascii: " ")) else {
      self.text = "\"\(text)\" has a space; between addresses there is nothing but a comma"
      return
    }
    let isName = !text.utf8.allSatisfy { "0123456789.:".utf8.contains($0) }
    if isName, let parts = HostAndPort(text), EndpointAddress(ip: parts.host, port: 0) == nil {
      self.text = "\"\(text)\" is a name and not an address; write \"dns:///\(parts.shown)\""
    } else {
      self.text = "\"\(text)\" is not an address"
    }
  }

  /// An address of IPv4 with fewer numbers than four.
  init?(ofShortAddress parts: HostAndPort) {
    guard EndpointAddress(ip: parts.host, port: 0) == nil,
      let long = HostAndPort.longAddress(Substring(parts.host))
    else { return nil }
    self.text =
      "\"\(parts.host)\" is not an address of IPv4, which has four numbers; write \"\(long):\(parts.port)\""
  }

  /// The last group of an address of IPv6 is taken for a port where it can be one.
  private static func unbracketed(_ text: String) -> String {
    let colon = text.lastIndex(of: ":") ?? text.endIndex
    let bracketed = ["[\(text[..<colon])]\(text[colon...])", "[\(text)]"].lazy.compactMap { HostAndPort($0) }
    guard let meant = bracketed.first(where: { EndpointAddress(ip: $0.host, port: 0) != nil }) else {
      return "it has more than one colon; write \"host:port\""
    }
    return
      "an IPv6 address needs brackets before a port; write \"\(meant.shown)\", or \"ipv6:\(meant.shown)\""
  }

  /// A text that was taken for a host and a port.
  init(ofHost text: String) {
    let host = text.prefix { $0 != "/" }
    if host.utf8.count < text.utf8.count, let parts = HostAndPort(host) {
      self.text = "it has a path, which a target cannot have; write \"\(parts.shown)\""
    } else if text.utf8.last == UInt8(ascii: ":") {
      self.text = "the port is missing after the colon; write \"\(text)443\", for example"
    } else if let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), colon == text.startIndex {
      self.text = "the host is missing before the port; write \"localhost\(text)\", for example"
    } else if text.utf8.contains(UInt8(ascii: ",")) {
      self.text =
        "it has a comma; several addresses are \"ipv4:ADDRESS:PORT,ADDRESS:PORT\", a name is one alone"
    } else if text.isUnbracketed {
      self.text = Self.unbracketed(text)
    } else if let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) {
      self.text = "\"\(text[text.index(after: colon)...])\" is not a port, a number from 0 to 65535"
    } else {
      self.text = "it is not a host and a port"
    }
  }
}

extension HostAndPort {
  fileprivate var shown: String {
    host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}

extension GRPCStatus {
  /// A target whose name is not a host and a port.
  package static func badHost(_ name: String, in target: String) -> GRPCStatus {
    .badTarget(target, TargetHint(ofHost: name).text)
  }
}
