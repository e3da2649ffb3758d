import SwitchboardCall

/// The hosts of servers by their addresses. Calls whose route asks for that of their server have it as `:authority` (gRFC A81). All
/// subchannels of a policy share one, which follows what the resolver says. Two are the same if they are one object.
package final class ServerHosts: Sendable, Equatable {
  private let hosts = Locked<[EndpointAddress: [UInt8]]>([:])

  package init() {}

  /// Takes the hosts of other servers.
  package func replace(by new: [EndpointAddress: [UInt8]]) { hosts.withLock { $0 = new } }

  /// The host of a server; `nil` if it is not known.
  package func host(of address: EndpointAddress) -> [UInt8]? { hosts.withLock { $0[address] } }

  package static func == (left: ServerHosts, right: ServerHosts) -> Bool { left === right }
}
