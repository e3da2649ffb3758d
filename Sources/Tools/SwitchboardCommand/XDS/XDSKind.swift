import SwitchboardText
import XDSMessages

/// A resource that a client of control planes knows of.
typealias XDSResource = Envoy_Service_Status_V3_ClientConfig.GenericXdsConfig

/// The kinds of resources that refer to each other.
enum XDSKind: CaseIterable, Sendable {
  case listener, routes, cluster, endpoints

  var typeName: String {
    switch self {
    case .listener: "envoy.config.listener.v3.Listener"
    case .routes: "envoy.config.route.v3.RouteConfiguration"
    case .cluster: "envoy.config.cluster.v3.Cluster"
    case .endpoints: "envoy.config.endpoint.v3.ClusterLoadAssignment"
    }
  }

  var noun: ShownText {
    switch self {
    case .listener: "listener"
    case .routes: "routes"
    case .cluster: "cluster"
    case .endpoints: "endpoints"
    }
  }

  /// `nil` for others.
  init?(typeURL: String) {
    let name = typeURL.part(afterLast: "/") ?? typeURL[...]
    guard let kind = Self.allCases.first(where: { name.isExactly($0.typeName) }) else { return nil }
    self = kind
  }
}

extension Envoy_Admin_V3_ClientResourceStatus {
  /// As in the definition.
  var name: String {
    switch self {
    case .unknown: "UNKNOWN"
    case .requested: "REQUESTED"
    case .doesNotExist: "DOES_NOT_EXIST"
    case .acked: "ACKED"
    case .nacked: "NACKED"
    case .receivedError: "RECEIVED_ERROR"
    case .timeout: "TIMEOUT"
    case .UNRECOGNIZED(let number): "\(number)"
    }
  }
}
