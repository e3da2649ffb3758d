import SwitchboardBalancing
import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

/// Where servers are, as control planes say it.
struct Locality: Hashable, Sendable {
  static let unknown = Locality(region: ExactText(""), zone: ExactText(""), subZone: ExactText(""))

  var region: ExactText
  var zone: ExactText
  var subZone: ExactText
}

/// What a control plane says of the health of a server that may take calls.
enum EndpointHealth: Hashable, Sendable {
  case unknown, healthy
  /// It is about to end.
  case draining

  /// `nil` for one that takes none.
  init?(_ status: Envoy_Config_Core_V3_HealthStatus) {
    switch status {
    case .unknown: self = .unknown
    case .healthy: self = .healthy
    case .draining: self = .draining
    case .unhealthy, .timeout, .degraded, .UNRECOGNIZED: return nil
    }
  }
}

/// The servers of a cluster.
struct EndpointsResource: Hashable, Sendable {
  /// The servers of a place.
  struct Place: Hashable, Sendable {
    /// Its region, zone and part of the zone, as metrics show it.
    var name: String
    /// Above 0.
    var weight: UInt32
    var endpoints: [Endpoint]
    var locality = Locality.unknown
    /// What is said of the health of each of `endpoints`; empty: nothing is said of any.
    var health: [EndpointHealth] = []
    /// Servers that only take the calls of sessions that they have.
    var draining: [Endpoint] = []

    /// All servers.
    var allEndpoints: [Endpoint] { draining.isEmpty ? endpoints : endpoints + draining }

    /// All servers, with what is said of their health.
    var withHealth: [(Endpoint, EndpointHealth)] {
      let known = health.isEmpty ? Array(repeating: EndpointHealth.unknown, count: endpoints.count) : health
      return Array(zip(endpoints, known)) + draining.map { ($0, .draining) }
    }

    /// The name of a place of which nothing is known.
    static let nowhere = name(region: "", zone: "", subZone: "")

    static func name(region: String, zone: String, subZone: String) -> String {
      "{region=\"\(region)\", zone=\"\(zone)\", sub_zone=\"\(subZone)\"}"
    }
  }

  /// A share of the calls that fail, to spare the servers.
  struct Drop: Hashable, Sendable {
    var category: String
    /// Of a million calls.
    var millionths: Int
  }

  /// The places of each priority, the preferred one first.
  let priorities: [[Place]]
  let drops: [Drop]
  /// How many places and addresses there are.
  let size: Int
  /// Whether some endpoint has a proxy.
  let hasProxies: Bool
  /// Whether the control plane that sent it may have calls have the hosts of servers as authority (gRFC A81).
  let isTrusted: Bool
  /// Of the addresses: it tells two lists apart that differ in the last of them.
  private let digest: Int

  init(priorities: [[Place]], drops: [Drop], hasProxies: Bool = false, isTrusted: Bool = false) {
    self.priorities = priorities
    self.drops = drops
    self.hasProxies = hasProxies
    self.isTrusted = isTrusted
    var (size, hasher) = (0, Hasher())
    for place in priorities.joined() {
      size += 1
      for endpoint in place.allEndpoints {
        size += endpoint.addresses.count
        for address in endpoint.addresses { hasher.combine(address) }
      }
    }
    self.size = size
    digest = hasher.finalize()
  }

  /// An update is compared with what was known at several places.
  static func == (left: EndpointsResource, right: EndpointsResource) -> Bool {
    left.digest == right.digest && left.priorities == right.priorities && left.drops == right.drops
      && left.hasProxies == right.hasProxies && left.isTrusted == right.isTrusted
  }

  func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

extension EndpointsResource {
  /// How many priorities there may be, and how many places in each: no policy has more children.
  static let limit = 1000
  /// How many addresses there may be.
  fileprivate static let addressLimit = 65_536
  /// How many shares of calls may be dropped: a call asks for each.
  private static let dropLimit = 100

  /// `isTrusted`: whether the control plane that has sent it is.
  init(
    _ message: Envoy_Config_Endpoint_V3_ClusterLoadAssignment,
    isTrusted: Bool
  ) throws(ResourceFault) {
    guard message.policy.dropOverloads.count <= Self.dropLimit else {
      throw ResourceFault("policy.drop_overloads", "are more than \(Self.dropLimit)")
    }
    let drops = try parts("policy.drop_overloads", message.policy.dropOverloads) {
      (drop) throws(ResourceFault) in
      Drop(category: drop.category.excerpt, millionths: try drop.dropPercentage.millionths("drop_percentage"))
    }
    var byPriority: [Int: [Place]] = [:]
    var hasProxies = false
    var addresses = Set<EndpointAddress>(
      minimumCapacity: message.endpoints.reduce(0) { $0 + $1.lbEndpoints.count }
    )
    for (position, places) in message.endpoints.enumerated() {
      let place = try part("endpoints[\(position)]") { () throws(ResourceFault) in
        try Place(places, &addresses, &hasProxies)
      }
      guard let place else { continue }
      byPriority[Int(places.priority), default: []].append(place)
    }
    var priorities: [[Place]] = []
    for priority in byPriority.keys.sorted() {
      guard priority < Self.limit else {
        throw ResourceFault("endpoints", "have more than \(Self.limit) priorities")
      }
      guard priority == priorities.count else {
        throw ResourceFault("endpoints", "have the priority \(priority), and none has \(priorities.count)")
      }
      let places = byPriority[priority] ?? []
      guard places.count <= Self.limit else {
        throw ResourceFault("endpoints", "have more than \(Self.limit) places, in priority \(priority)")
      }
      guard Set(places.map { ExactText($0.name) }).count == places.count else {
        throw ResourceFault("endpoints", "have a place twice, in priority \(priority)")
      }
      guard places.reduce(0, { $0 + Int($1.weight) }) <= Int(UInt32.max) else {
        throw ResourceFault("endpoints", "have weights whose sum exceeds 32 bits, in priority \(priority)")
      }
      priorities.append(places)
    }
    self.init(priorities: priorities, drops: drops, hasProxies: hasProxies, isTrusted: isTrusted)
  }

  /// The same servers, reached by their proxies where they have some (gRFC A86).
  var behindTheirProxies: EndpointsResource {
    hasProxies ? mapEndpoints { $0.map(\.behindItsProxy) } : self
  }

  /// The same servers, asked for their hosts by TLS where they have some (gRFC A101).
  var securedByTheirHosts: EndpointsResource { mapEndpoints(\.securedByTheirHosts) }

  private func mapEndpoints(_ change: ([Endpoint]) -> [Endpoint]) -> EndpointsResource {
    let priorities = priorities.map { places in
      places.map { place in
        var place = place
        place.endpoints = change(place.endpoints)
        place.draining = change(place.draining)
        return place
      }
    }
    return EndpointsResource(
      priorities: priorities,
      drops: drops,
      hasProxies: hasProxies,
      isTrusted: isTrusted
    )
  }
}

extension EndpointsResource.Place {
  /// `nil` for a place that gets no calls. `addresses` are those of the endpoints before it, and `hasProxies` whether one of them has
  /// a proxy.
  fileprivate init?(
    _ message: Envoy_Config_Endpoint_V3_LocalityLbEndpoints,
    _ addresses: inout Set<EndpointAddress>,
    _ hasProxies: inout Bool
  ) throws(ResourceFault) {
    let place = message.locality
    locality = Locality(
      region: ExactText(place.region),
      zone: ExactText(place.zone),
      subZone: ExactText(place.subZone)
    )
    name = Self.name(region: place.region, zone: place.zone, subZone: place.subZone)
    // It becomes the name of a policy's child, and a label of metrics.
    _ = try name.name("locality")
    weight = message.loadBalancingWeight.value
    let proxy = try message.hasMetadata ? message.metadata.proxy("metadata") : nil
    var sum = 0
    var endpoints: [Endpoint] = []
    endpoints.reserveCapacity(message.lbEndpoints.count)
    var traits = EndpointTraits()
    for (position, server) in message.lbEndpoints.enumerated() {
      var path: String { "lb_endpoints[\(position)]" }
      if server.hasLoadBalancingWeight, server.loadBalancingWeight.value == 0 {
        throw ResourceFault("\(path).load_balancing_weight", "is 0")
      }
      let own = server.hasLoadBalancingWeight ? server.loadBalancingWeight.value : 1
      sum += Int(own)
      let message = server.endpoint
      var endpoint = Endpoint(try part(path) { () throws(ResourceFault) in try message.addresses() })
      for address in endpoint.addresses where !addresses.insert(address).inserted {
        throw ResourceFault(path, "has the address of another endpoint: \(address)")
      }
      guard addresses.count <= EndpointsResource.addressLimit else {
        throw ResourceFault(path, "is above the limit of \(EndpointsResource.addressLimit) addresses")
      }
      let host = try part("\(path).endpoint.hostname") { () throws(ResourceFault) in
        try message.hostname.asHost()
      }
      let ownProxy = try (server.hasMetadata ? server.metadata.proxy("\(path).metadata") : nil) ?? proxy
      guard let health = EndpointHealth(server.healthStatus) else { continue }
      hasProxies = hasProxies || ownProxy != nil
      endpoint.attributes = traits.attributes(weight: own, host: host, proxy: ownProxy)
      if health == .draining {
        draining.append(endpoint)
      } else {
        endpoints.append(endpoint)
        self.health.append(health)
      }
    }
    guard sum <= Int(UInt32.max) else {
      throw ResourceFault("lb_endpoints", "have weights whose sum exceeds 32 bits")
    }
    self.endpoints = endpoints
    if !message.hasLoadBalancingWeight || weight == 0 { return nil }
  }
}

extension Envoy_Config_Endpoint_V3_Endpoint {
  /// The addresses, all of the same server (gRFC A61).
  fileprivate func addresses() throws(ResourceFault) -> [EndpointAddress] {
    let first = try part("endpoint.address") { () throws(ResourceFault) in try address.value() }
    if additionalAddresses.isEmpty { return [first] }
    let others = try parts("endpoint.additional_addresses", additionalAddresses) {
      (other) throws(ResourceFault) in
      try other.address.value()
    }
    return [first] + others
  }
}

extension Envoy_Config_Core_V3_Address {
  /// The address or the name.
  func value() throws(ResourceFault) -> EndpointAddress {
    switch address {
    case .socketAddress(let socket):
      guard case .portValue(let number) = socket.portSpecifier, let port = UInt16(exactly: number) else {
        throw ResourceFault("socket_address.port_value", "is missing or above 65535")
      }
      if let address = EndpointAddress(ip: socket.address, port: port) { return address }
      // As in Go and Java, names are looked up when a connection is opened.
      guard socket.address.isHostName else {
        throw ResourceFault("socket_address.address", "is no address and no name: \(socket.address.excerpt)")
      }
      return .name(host: socket.address, port: port)
    case .pipe: throw ResourceFault("pipe", "is not supported")
    case nil: throw ResourceFault("", "is missing")
    }
  }
}

extension String {
  /// Whether DNS could know the name.
  fileprivate var isHostName: Bool {
    (1...253).contains(utf8.count)
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}
