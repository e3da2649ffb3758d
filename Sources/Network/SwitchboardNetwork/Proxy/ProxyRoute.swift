import SwitchboardBalancing
import SwitchboardCall

/// How to connect to a target: a list of legs, each of which is tried if the previous one fails.
package struct ProxyRoute: Sendable, Equatable {
  /// What a socket connects to.
  package enum SocketDestination: Sendable, Equatable {
    case name(host: String, port: Int)
    case addresses([SocketAddress])
  }

  /// What to connect to and, if that is a proxy, the tunnel to request.
  package struct Leg: Sendable, Equatable {
    package let destination: SocketDestination
    package let tunnel: Tunnel?
    /// The one of the route's addresses that it leads to. `nil`: one of those that `destination` has.
    package let server: EndpointAddress?
  }

  package struct Tunnel: Sendable, Equatable {
    package let proxy: ProxyServer
    let destination: ProxyDestination
  }

  package let legs: [Leg]

  /// Throws `INVALID_ARGUMENT` if an address cannot be reached through the proxy that applies to it.
  ///
  /// Addresses that need no proxy come first and are tried in parallel. A name that a proxy connects to is not resolved
  /// here.
  package init(
    to addresses: [EndpointAddress],
    _ option: ProxyOption,
    _ environment: ProxyEnvironment
  ) throws(GRPCStatus) {
    let mayApply = Self.mayApply(option, environment)
    var direct: [SocketAddress] = []
    var legs: [Leg] = []
    for address in addresses {
      if case .proxied(let server, let proxy) = address.way {
        legs.append(try Self.leg(to: server, by: proxy, for: address))
        continue
      }
      let destination = mayApply ? try ProxyDestination(address) : nil
      if let destination, let leg = try Self.leg(to: destination, for: address, option, environment) {
        legs.append(leg)
      } else if case .name(let host, let port) = address.way {
        legs.append(Leg(destination: .name(host: host, port: Int(port)), tunnel: nil, server: address))
      } else if let address = SocketAddress(address) {
        direct.append(address)
      }
    }
    self.legs =
      (direct.isEmpty ? [] : [Leg(destination: .addresses(direct), tunnel: nil, server: nil)]) + legs
  }

  var hasProxy: Bool { legs.contains { $0.tunnel != nil } }

  private static func mayApply(_ option: ProxyOption, _ environment: ProxyEnvironment) -> Bool {
    option == .environment ? !environment.proxy.isEmpty : option != .none
  }

  /// `nil` without a proxy.
  private static func leg(
    to destination: ProxyDestination,
    for address: EndpointAddress,
    _ option: ProxyOption,
    _ environment: ProxyEnvironment
  ) throws(GRPCStatus) -> Leg? {
    let proxy = option == .environment ? try environment.proxy(for: destination) : ProxyServer(option)
    return proxy.map {
      Leg(
        destination: $0.socketDestination,
        tunnel: Tunnel(proxy: $0, destination: destination),
        server: address
      )
    }
  }

  /// By the address's own proxy, whatever the channel's is.
  private static func leg(
    to server: EndpointAddress,
    by proxy: EndpointAddress,
    for address: EndpointAddress
  ) throws(GRPCStatus) -> Leg {
    guard let destination = try ProxyDestination(server), let proxy = ProxyServer(at: proxy) else {
      throw .invalidOption("no HTTP proxy can be asked for a tunnel as this address needs it: \(address)")
    }
    return Leg(
      destination: proxy.socketDestination,
      tunnel: Tunnel(proxy: proxy, destination: destination),
      server: address
    )
  }
}
