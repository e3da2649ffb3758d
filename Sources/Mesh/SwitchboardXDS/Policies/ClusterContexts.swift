import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork

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
    tls.nameCheck = ServerNameCheck { names, sent in
      let rules = wanted.rules(sent: sent)
      return rules.isEmpty || names.contains { name in rules.contains { $0.matches(name) } }
    }
    // Connections wait for certificates that are not there yet.
    return SubchannelSecurity(
      try TLSContexts(client: tls, serverName: wanted.sentName, isLate: true, logger: logger)
    )
  }
}

/// How the servers of a cluster are secured.
struct SecuredServers {
  /// What the control plane says; `.some(nil)`: nothing.
  private var wanted: ClusterSecurity??
  /// `nil` if it is as the channel says.
  private(set) var security: SubchannelSecurity?

  /// Returns whether the servers are secured in another way than before. What stays the same keeps its context.
  mutating func update(_ cluster: ClusterResource, _ contexts: ClusterContexts?) throws(GRPCStatus) -> Bool {
    guard let contexts, wanted != .some(cluster.security) else { return false }
    let isFirst = wanted == nil
    // Nothing is known of the old one if this fails.
    (wanted, security) = (nil, nil)
    security = try cluster.security.map { (new) throws(GRPCStatus) in try contexts.security(new) }
    wanted = .some(cluster.security)
    return !isFirst
  }
}
