import SwitchboardBalancing

extension SocketAddress {
  /// `nil` for a name, for an address behind a proxy, and for a path that is too long.
  package init?(_ address: EndpointAddress) {
    let made: SocketAddress? =
      switch address {
      case .ipv4(_, let port), .ipv6(_, _, _, let port): SocketAddress.numeric(address.host, port: Int(port))
      case .unix(let path): SocketAddress.unix(path: path)
      case .unixAbstract(let name): SocketAddress.unix(abstractName: name)
      case .secured(let address, _): SocketAddress(address)
      case .name, .proxied: nil
      }
    guard let made else { return nil }
    self = made
  }
}

extension EndpointAddress {
  /// An address that a lookup found. `nil` for a socket of the file system.
  init?(_ address: SocketAddress) {
    guard address.ipBytes != nil, let endpoint = EndpointAddress(ip: address.host, port: UInt16(address.port))
    else {
      return nil
    }
    self = endpoint
  }
}
