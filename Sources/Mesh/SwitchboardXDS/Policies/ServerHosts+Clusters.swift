import SwitchboardBalancing

extension ServerHosts {
  /// Takes the hosts of other servers. Of equal addresses, that of the preferred cluster counts which has a host.
  func update(_ leaves: [LeafConfig]) {
    var found: [EndpointAddress: [UInt8]] = [:]
    // Endpoints mostly share their attributes.
    var last: (attributes: EndpointAttributes, host: [UInt8]?)?
    for leaf in leaves {
      for place in (leaf.endpoints?.priorities ?? []).joined() {
        for endpoint in place.allEndpoints {
          if last?.attributes.isCopy(of: endpoint.attributes) != true {
            last = (endpoint.attributes, endpoint.attributes[EndpointHostName.self].map { Array($0.utf8) })
          }
          guard let host = last?.host else { continue }
          for address in endpoint.addresses where found[address] == nil { found[address] = host }
        }
      }
    }
    replace(by: found)
  }
}
