import SwitchboardBalancing

extension ServerHosts {
  /// Takes the hosts of the servers of a cluster.
  func update(_ leaf: LeafConfig) {
    var found: [EndpointAddress: [UInt8]] = [:]
    for place in leaf.places where leaf.hasTrustedHosts {
      let endpoints = place.allEndpoints
      endpoints.forEachRun { attributes, run in
        guard let host = attributes[EndpointHostName.self].map({ Array($0.utf8) }) else { return }
        for address in endpoints[run].lazy.flatMap(\.addresses) { found[address] = host }
      }
    }
    replace(by: found)
  }
}

extension LeafConfig {
  /// Those of endpoints are left out if the control plane that has sent them is not trusted. It may be another one than that of the
  /// cluster, which has the name that is looked up.
  fileprivate var hasTrustedHosts: Bool {
    if case .name = cluster.kind { cluster.isTrusted } else { endpoints?.isTrusted ?? false }
  }
}
