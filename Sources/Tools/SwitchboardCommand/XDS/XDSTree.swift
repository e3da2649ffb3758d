import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

/// Draws what one client of control planes knows: its listeners, and below each resource those that it names.
struct XDSTree {
  private struct Key: Hashable {
    let kind: XDSKind
    let name: ExactText
  }

  /// A line, with those below it.
  private struct Node {
    var line: ShownText
    var children: [Node] = []
  }

  /// More lines are not shown, whatever a server says.
  private static let lineLimit = 2000
  /// Aggregates that contain each other deeper are not shown.
  private static let depthLimit = 24
  private static let serverLimit = 20

  private(set) var lines: [ShownText] = []
  private let paint: Painter
  private var resources: [Key: XDSResource] = [:]
  private var drawn: Set<Key> = []
  private var depth = 0

  init(_ client: Envoy_Service_Status_V3_ClientConfig, _ paint: Painter) {
    self.paint = paint
    var order: [Key] = []
    var others: [Node] = []
    for resource in client.genericXdsConfigs {
      guard let kind = XDSKind(typeURL: resource.typeURL) else {
        others.append(Node(line: line(ShownText(resource.typeURL), resource)))
        continue
      }
      let key = Key(kind: kind, name: ExactText(resource.name))
      order.append(key)
      resources[key] = resource
    }
    let scope =
      client.clientScope.isEmpty ? paint(.comment, "without a target") : paint(.name, client.clientScope)
    let identity: ShownText = client.node.id.isEmpty ? "" : "  node \(client.node.id)"
    var root = Node(line: "client \(scope)\(identity)")
    // What nothing names comes last.
    for key in order.filter({ $0.kind == .listener }) + order where !drawn.contains(key) {
      if let node = node(key) { root.children.append(node) }
    }
    root.children += others
    lines.append(root.line)
    draw(root.children, "")
  }

  private mutating func draw(_ nodes: [Node], _ indent: ShownText) {
    for (position, node) in nodes.enumerated() {
      guard lines.count < Self.lineLimit else {
        if lines.count == Self.lineLimit { lines.append(paint(.comment, "… and more")) }
        return
      }
      let isLast = position == nodes.count - 1
      lines.append(indent + (isLast ? "└── " : "├── ") + node.line)
      draw(node.children, indent + (isLast ? "    " : "│   "))
    }
  }

  // MARK: Resources

  private mutating func node(_ kind: XDSKind, _ name: String) -> Node? {
    node(Key(kind: kind, name: ExactText(name)))
  }

  /// `nil` for a resource that is not known.
  private mutating func node(_ key: Key) -> Node? {
    guard let resource = resources[key], depth < Self.depthLimit else { return nil }
    guard drawn.insert(key).inserted else {
      return Node(line: "\(key.kind.noun) \(paint(.name, key.name.text))  \(paint(.comment, "see above"))")
    }
    depth += 1
    defer { depth -= 1 }
    return Node(line: line(key.kind.noun, resource), children: children(key.kind, resource.xdsConfig))
  }

  private mutating func children(_ kind: XDSKind, _ contents: Google_Protobuf_Any) -> [Node] {
    switch kind {
    case .listener: (try? contents.unpack()).map { ofListener($0) } ?? []
    case .routes: (try? contents.unpack()).map { ofRoutes($0) } ?? []
    case .cluster: (try? contents.unpack()).map { ofCluster($0) } ?? []
    case .endpoints: (try? contents.unpack()).map { ofEndpoints($0) } ?? []
    }
  }

  private mutating func ofListener(_ listener: Envoy_Config_Listener_V3_Listener) -> [Node] {
    typealias Manager = Envoy_Extensions_Filters_Network_HttpConnectionManager_V3_HttpConnectionManager
    guard let manager = try? listener.apiListener.apiListener.unpack(as: Manager.self) else { return [] }
    return switch manager.routeSpecifier {
    case .rds(let rds): [node(.routes, rds.routeConfigName)].compactMap { $0 }
    case .routeConfig(let routes): ofRoutes(routes)
    case nil: []
    }
  }

  private mutating func ofRoutes(_ routes: Envoy_Config_Route_V3_RouteConfiguration) -> [Node] {
    var nodes: [Node] = []
    var clusters: [String] = []
    for host in routes.virtualHosts.prefix(Self.lineLimit) {
      let domains = host.domains.prefix(Self.serverLimit).map { paint(.string, $0) }
      var node = Node(line: "host of \(domains.joined(separator: ", "))")
      for route in host.routes.prefix(Self.lineLimit) {
        let weights = route.weights
        clusters += weights.map(\.name)
        node.children.append(Node(line: "\(route.match.shown) → \(shown(weights))"))
      }
      nodes.append(node)
    }
    var seen: Set<ExactText> = []
    for name in clusters where seen.insert(ExactText(name)).inserted {
      if let node = node(.cluster, name) { nodes.append(node) }
    }
    return nodes
  }

  private mutating func ofCluster(_ cluster: Envoy_Config_Cluster_V3_Cluster) -> [Node] {
    typealias Aggregate = Envoy_Extensions_Clusters_Aggregate_V3_ClusterConfig
    if let aggregate = try? cluster.clusterType.typedConfig.unpack(as: Aggregate.self) {
      return aggregate.clusters.prefix(Self.lineLimit).compactMap { node(.cluster, $0) }
    }
    if case .type(.logicalDns) = cluster.clusterDiscoveryType {
      let names = cluster.loadAssignment.endpoints.prefix(1).flatMap { $0.lbEndpoints.prefix(1) }
      return names.map { Node(line: "servers of the name \(shown($0))") }
    }
    let service = cluster.edsClusterConfig.serviceName
    return [node(.endpoints, service.isEmpty ? cluster.name : service)].compactMap { $0 }
  }

  private func ofEndpoints(_ endpoints: Envoy_Config_Endpoint_V3_ClusterLoadAssignment) -> [Node] {
    endpoints.endpoints.prefix(Self.lineLimit).map { place in
      let parts = [place.locality.region, place.locality.zone, place.locality.subZone].filter { !$0.isEmpty }
      let name =
        parts.isEmpty ? "servers" : "servers in \(paint(.name, parts.joined(separator: "/")))" as ShownText
      var facts: ShownText = "priority \(place.priority), weight \(place.loadBalancingWeight.value)"
      let count = place.lbEndpoints.count
      if count == 0 { facts += ", none" }
      let servers = place.lbEndpoints.prefix(Self.serverLimit).map { Node(line: shown($0)) }
      let rest =
        count > servers.count ? [Node(line: paint(.comment, "… and \(count - servers.count) more"))] : []
      return Node(line: "\(name)  \(facts)", children: servers + rest)
    }
  }

  // MARK: Words

  private func line(_ noun: ShownText, _ resource: XDSResource) -> ShownText {
    "\(noun) \(paint(.name, resource.name))  \(state(of: resource))"
  }

  private func state(of resource: XDSResource) -> ShownText {
    let (used, error) = (resource.versionInfo, resource.errorState)
    let hasUsed = resource.hasXdsConfig
    let reason: ShownText = error.details.isEmpty ? "" : ": \(error.details)"
    let rest: ShownText = hasUsed ? "; version \(used) is still used" : "; none is used"
    switch resource.clientStatus {
    case .acked: return "\(paint(.good, "accepted")), version \(used)"
    case .nacked: return "\(paint(.bad, "refused")), version \(error.versionInfo)\(reason)\(rest)"
    case .requested: return paint(.warning, "asked for")
    case .doesNotExist: return "\(paint(.bad, "missing"))\(reason)\(hasUsed ? rest : "")"
    case .timeout: return "\(paint(.warning, "late"))\(reason)\(hasUsed ? rest : "")"
    case .receivedError: return "\(paint(.bad, "not sent"))\(reason)\(rest)"
    case .unknown, .UNRECOGNIZED: return ShownText(resource.clientStatus.name)
    }
  }

  private func shown(_ weights: [(name: String, weight: UInt32)]) -> ShownText {
    guard weights.count > 1 else { return weights.first.map { paint(.name, $0.name) } ?? "nothing" }
    let shares = weights.prefix(Self.serverLimit).map { "\(paint(.name, $0.name)) \($0.weight)" as ShownText }
    return shares.joined(separator: ", ")
  }

  private func shown(_ server: Envoy_Config_Endpoint_V3_LbEndpoint) -> ShownText {
    let others = server.endpoint.additionalAddresses.prefix(Self.serverLimit).map(\.address)
    let addresses = ([server.endpoint.address] + others).map { ShownText($0.shown) }
    var line = addresses.joined(separator: ", ")
    if server.hasLoadBalancingWeight { line += "  weight \(server.loadBalancingWeight.value)" }
    switch server.healthStatus {
    case .unknown, .healthy: break
    case .draining: line += "  \(paint(.warning, "draining"))"
    default: line += "  \(paint(.bad, "not healthy"))"
    }
    return line
  }
}

extension Envoy_Config_Route_V3_Route {
  /// The clusters that it leads to.
  fileprivate var weights: [(name: String, weight: UInt32)] {
    switch route.clusterSpecifier {
    case .cluster(let name): [(name, 1)]
    case .weightedClusters(let weighted): weighted.clusters.map { ($0.name, $0.weight.value) }
    case .clusterHeader, .clusterSpecifierPlugin, nil: []
    }
  }
}

extension Envoy_Config_Route_V3_RouteMatch {
  /// Which calls the route is for.
  fileprivate var shown: ShownText {
    var text: ShownText =
      switch pathSpecifier {
      case .prefix(""), .prefix("/"): "all calls"
      case .prefix(let prefix): "\(prefix)*"
      case .path(let path): "\(path)"
      case .safeRegex(let pattern): "paths like \(pattern.regex)"
      case nil: "no calls"
      }
    let names = headers.prefix(20).map { ShownText($0.name) }
    if !names.isEmpty { text += " with rules for \(names.joined(separator: ", "))" }
    if hasRuntimeFraction { text += ", a share of them" }
    return text
  }
}

extension Envoy_Config_Core_V3_Address {
  fileprivate var shown: String {
    switch address {
    case .socketAddress(let socket):
      socket.address.utf8.contains(UInt8(ascii: ":"))
        ? "[\(socket.address)]:\(socket.portValue)" : "\(socket.address):\(socket.portValue)"
    case .pipe(let pipe): "unix:\(pipe.path)"
    case nil: "no address"
    }
  }
}
