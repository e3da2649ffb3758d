import SwitchboardBalancing

extension ServerHosts {
  /// Takes the hosts of other servers. Of equal addresses, that of the preferred cluster counts which has a host.
  func update(_ leaves: [LeafConfig]) {
    var found: [EndpointAddress: [UInt8]] = [:]
    for leaf in leaves {
      for place in (leaf.endpoints?.priorities ?? []).joined() {
        let endpoints = place.allEndpoints
        endpoints.forEachRun { attributes, run in
          guard let host = attributes[EndpointHostName.self].map({ Array($0.utf8) }) else { return }
          for address in endpoints[run].lazy.flatMap(\.addresses) where found[address] == nil {
            found[address] = host
          }
        }
      }
    }
    replace(by: found)
  }
}
