/// The addresses of an endpoint without their order. Policies use it to recognize an endpoint in an update.
enum AddressSet: Hashable {
  case one(EndpointAddress)
  case several(Set<EndpointAddress>)

  /// `nil` without addresses.
  init?(_ addresses: [EndpointAddress]) {
    guard let first = addresses.first else { return nil }
    if addresses.count == 1 {
      self = .one(first)
    } else {
      let set = Set(addresses)
      self = set.count == 1 ? .one(first) : .several(set)
    }
  }
}
