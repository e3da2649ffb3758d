import SwitchboardText

/// The control planes of a bootstrap, each once, and which of them each authority asks (gRFC A47).
struct ServerTable: Sendable {
  private(set) var servers: [XDSBootstrap.Server] = []
  /// By authority: that of plain names first.
  private(set) var choices: [ServerChoice] = []
  /// The positions of the others in `choices`, by their names.
  private var owners: [ExactText: Int] = [:]
  private let hasOwn: Bool

  init(_ bootstrap: XDSBootstrap) {
    hasOwn = !bootstrap.servers.isEmpty
    var ids: [XDSBootstrap.Server: ServerID] = [:]
    add(bootstrap.servers, isByReachability: false, &ids)
    for (name, authority) in bootstrap.authorities {
      let own = authority.servers ?? bootstrap.servers
      guard !own.isEmpty else { continue }
      owners[ExactText(name)] = choices.count
      add(own, isByReachability: authority.fallsBackOnReachabilityOnly, &ids)
    }
  }

  private mutating func add(
    _ list: [XDSBootstrap.Server],
    isByReachability: Bool,
    _ ids: inout [XDSBootstrap.Server: ServerID]
  ) {
    var order: [ServerID] = []
    for server in list {
      let id = ids[server] ?? servers.count
      if id == servers.count {
        ids[server] = id
        servers.append(server)
      }
      // A second time, it would be no other one.
      if !order.contains(id) { order.append(id) }
    }
    choices.append(ServerChoice(order, isByReachability: isByReachability))
  }

  /// The authority of a resource, as a position in `choices`. `nil` if it has no control plane.
  func authority(of resource: String) -> Int? {
    guard let owner = XDSBootstrap.owner(of: resource), !owner.isEmpty else { return hasOwn ? 0 : nil }
    return owners[ExactText(owner)]
  }
}
