import SwitchboardText

/// The kinds of resources that a client asks for.
enum ResourceType: Int, Hashable, Sendable, CaseIterable {
  case listener, routes, cluster, endpoints

  var typeURL: String { "type.googleapis.com/\(messageName)" }

  /// The full name of the message.
  var messageName: String {
    switch self {
    case .listener: "envoy.config.listener.v3.Listener"
    case .routes: "envoy.config.route.v3.RouteConfiguration"
    case .cluster: "envoy.config.cluster.v3.Cluster"
    case .endpoints: "envoy.config.endpoint.v3.ClusterLoadAssignment"
    }
  }

  /// `nil` for others.
  init?(typeURL: String) {
    guard let type = Self.allCases.first(where: { $0.typeURL.isExactly(typeURL) }) else { return nil }
    self = type
  }

  /// Whether a response has all resources that were asked for, so that one which it lacks is gone.
  var isWhole: Bool { self == .listener || self == .cluster }

  /// For messages.
  var noun: String {
    switch self {
    case .listener: "listener"
    case .routes: "route configuration"
    case .cluster: "cluster"
    case .endpoints: "endpoints"
    }
  }
}

/// A resource by its kind and its name.
struct ResourceKey: Hashable, Sendable, CustomStringConvertible {
  let type: ResourceType
  let name: ExactText

  init(_ type: ResourceType, _ name: String) {
    self.type = type
    self.name = ExactText(XDSBootstrap.canonical(name))
  }

  /// By type and name.
  func precedes(_ other: ResourceKey) -> Bool {
    type == other.type ? name.text.precedes(other.name.text) : type.rawValue < other.type.rawValue
  }

  var description: String { "\(type.noun) \(name.text.excerpt)" }
}

/// A resource that was read and found to be valid.
enum Resource: Hashable, Sendable {
  case listener(ListenerResource)
  case routes(RouteTable)
  case cluster(ClusterResource)
  case endpoints(EndpointsResource)
}
