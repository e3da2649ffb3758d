// unsafe: bytes of a name that are lent for one comparison

import SwitchboardCall

/// A rule for a name in the certificate of a server (gRFC A29).
struct ServerNameRule: Hashable, Sendable {
  let text: TextRule
  let ignoresCase: Bool
  /// Whether only names of hosts match.
  var isOfDNS = false

  func matches(_ name: PeerCertificate.AlternativeName) -> Bool {
    switch name {
    case .dns(let name):
      if case .exact(let own) = text { return Self.isHost(own, namedBy: Array(name.utf8)) }
      return matches(name)
    case .uri(let name), .email(let name): return !isOfDNS && matches(name)
    case .ipAddress(let address): return !isOfDNS && matches(Self.canonical(address))
    }
  }

  private func matches(_ name: String) -> Bool {
    guard !name.isEmpty else { return false }
    return Array(name.utf8).withUnsafeBufferPointer { text.matches($0, ignoringCase: ignoresCase) }
  }

  /// Case does not count in names of hosts, and a star stands for the whole first label.
  private static func isHost(_ host: [UInt8], namedBy name: [UInt8]) -> Bool {
    let (host, name) = (absolute(host), absolute(name))
    guard !name.isEmpty, !host.contains(UInt8(ascii: "*")) else { return false }
    guard name.starts(with: "*.".utf8) else { return name == host }
    guard let dot = host.firstIndex(of: UInt8(ascii: ".")), dot > 0 else { return false }
    // A star for all names of a top-level domain is none.
    let rest = name.dropFirst()
    return rest.dropFirst().contains(UInt8(ascii: ".")) && rest.elementsEqual(host[dot...])
  }

  /// In lower case and without the dot at the end.
  private static func absolute(_ name: [UInt8]) -> [UInt8] {
    let lower = name.map(\.lowercased)
    return lower.last == UInt8(ascii: ".") ? lower.dropLast() : lower
  }

  /// An address as RFC 5952 has it: the longest run of zeros of IPv6 is left out. It has all of its groups.
  static func canonical(_ address: String) -> String {
    let groups = address.utf8.split(separator: UInt8(ascii: ":")).map { Array($0) }
    guard groups.count == 8 else { return address }
    let zero = [UInt8(ascii: "0")]
    var best = 0..<0
    var start = 0
    for index in 0...8 where index == 8 || groups[index] != zero {
      if index - start > best.count { best = start..<index }
      start = index + 1
    }
    func text(_ groups: ArraySlice<[UInt8]>) -> String {
      groups.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ":")
    }
    guard best.count > 1 else { return text(groups[...]) }
    return text(groups[..<best.lowerBound]) + "::" + text(groups[best.upperBound...])
  }
}
