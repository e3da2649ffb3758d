import SwitchboardNetwork
import SwitchboardText

/// The names under which a server answers. A web page can make its visitor's browser ask any server of the visitor's
/// machine for a page, under a name of its own that it then resolves to this machine (DNS rebinding): the browser shows the
/// answer to the web page, because both have the same name. So a page for local programs must check it.
package struct HostNames: Sendable {
  private let names: [[UInt8]]

  /// These names, without ports, and those of the machine itself.
  package init(_ names: [String]) { self.names = names.map { $0.utf8.map(\.lowercased) } }

  /// Whether `host`, without a port, is a name or an address that never leaves the machine.
  package static func isLocal(_ host: String) -> Bool { isLocal(host.utf8.map(\.lowercased)) }

  /// Whether it contains the name in an authority: `name`, `name:port`, `address:port` or `[address]:port`.
  func contain(_ authority: some Collection<UInt8>) -> Bool {
    guard authority.count <= 300, let host = Self.host(of: authority.map(\.lowercased)) else { return false }
    return Self.isLocal(host) || names.contains(host)
  }

  /// `nil` if what follows the host is no port.
  private static func host(of authority: [UInt8]) -> [UInt8]? {
    let isBracketed = authority.first == UInt8(ascii: "[")
    guard let end = authority.firstIndex(of: UInt8(ascii: isBracketed ? "]" : ":")) else {
      return isBracketed ? nil : authority
    }
    let rest = authority[(isBracketed ? end + 1 : end)...]
    guard rest.isEmpty || rest.first == UInt8(ascii: ":"), rest.dropFirst().allSatisfy({ $0 & 0xf0 == 0x30 })
    else { return nil }
    return Array(authority[(isBracketed ? 1 : 0)..<end])
  }

  private static func isLocal(_ host: [UInt8]) -> Bool {
    // All names below `localhost` are the machine's too (RFC 6761).
    if host.elementsEqual("localhost".utf8) || host.suffix(10).elementsEqual(".localhost".utf8) {
      return true
    }
    let address = SocketAddress.numeric(String(decoding: host, as: UTF8.self), port: 0)
    return address?.ipBytes.map(SocketAddress.isLoopback) ?? false
  }
}
