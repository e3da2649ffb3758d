import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardText

/// Makes the TLS contexts of clusters, of the certificate providers of a client of control planes.
struct ClusterContexts: Sendable {
  let providers: CertificateProviders
  let logger: Logger

  func security(_ wanted: ClusterSecurity) throws(GRPCStatus) -> SubchannelSecurity {
    var tls = ClientTLS()
    if case .provider(let name) = wanted.roots {
      tls.trustRoots = .provider(try providers.provider(named: name))
    }
    if let identity = wanted.identity {
      tls.credentials = TLSCredentials(try providers.provider(named: identity))
    }
    let rules = wanted.names
    tls.nameCheck = ServerNameCheck { names in
      rules.isEmpty || names.contains { name in rules.contains { $0.matches(name) } }
    }
    // Connections wait for certificates that are not there yet.
    return SubchannelSecurity(
      try TLSContexts(client: tls, serverName: wanted.sentName, isLate: true, logger: logger)
    )
  }
}

/// How the servers of a cluster are secured, by their addresses.
struct SecuredServers {
  private var known: [ClusterSecurity: SubchannelSecurity] = [:]
  private var clusters: [ExactText: ClusterSecurity?] = [:]
  /// `.some(nil)` for those that are secured as the channel says.
  private var addresses: [EndpointAddress: SubchannelSecurity?] = [:]

  /// Takes other servers. Returns whether one of the clusters, or a server that stays, is secured in another way than before. What
  /// stays the same keeps its contexts.
  mutating func update(_ leaves: [LeafConfig], _ contexts: ClusterContexts?) throws(GRPCStatus) -> Bool {
    guard let contexts else { return false }
    let before = self
    self = SecuredServers()
    var hasChanged = false
    for leaf in leaves {
      let wanted = leaf.cluster.security
      clusters[leaf.cluster.name] = .some(wanted)
      if let old = before.clusters[leaf.cluster.name], old != wanted { hasChanged = true }
      var security: SubchannelSecurity?
      if let wanted {
        if let same = known[wanted] ?? before.known[wanted] {
          security = same
        } else {
          security = try contexts.security(wanted)
        }
        known[wanted] = security
      }
      for places in leaf.endpoints?.priorities ?? [] {
        for endpoint in places.lazy.flatMap(\.allEndpoints) {
          // Of equal addresses, the preferred cluster decides that says something.
          for address in endpoint.addresses where addresses[address] ?? nil == nil {
            addresses[address] = .some(security)
          }
        }
      }
    }
    // An address may count as another cluster's now.
    return hasChanged
      || addresses.contains { address, security in before.addresses[address].map { $0 != security } ?? false }
  }

  func security(of addresses: [EndpointAddress]) -> SubchannelSecurity? {
    addresses.lazy.compactMap { self.addresses[$0] ?? nil }.first
  }
}
