import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// A set of servers that do the same, and how calls are divided among them.
struct ClusterResource: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// The servers are a resource of this name.
    case endpoints(String)
    /// The servers are all addresses of this name in the DNS, or this address.
    case name(EndpointAddress)
    /// Other clusters, the preferred one first.
    case aggregate([String])
  }

  enum Policy: Hashable, Sendable {
    /// Calls are divided among places by their weights, and within a place by this policy.
    case byLocality([LoadBalancingConfig])
    /// One policy has the servers of all places.
    case whole([LoadBalancingConfig])
  }

  /// The most calls at once, if the cluster does not say it (gRFC A32).
  static let usualMaxRequests = 1024

  var name: String
  var kind: Kind
  /// Means nothing for an aggregate.
  var policy: Policy
  /// Whether the control plane that sent it may have calls have its name as authority (gRFC A81).
  var isTrusted = false
  var maxRequests = ClusterResource.usualMaxRequests
  /// How its servers are secured; `nil`: as the channel says.
  var security: ClusterSecurity?
  /// Whether its servers are reached by the HTTP proxies that their endpoints name (gRFC A86).
  var usesProxies = false
  /// The servers that calls of sessions may stay at, by what is said of their health (gRFC A55).
  var sessionHealth: Set<EndpointHealth> = [.unknown, .healthy]
  /// How long a server is kept that only sessions have used (gRFC A75).
  var idleTimeout = Duration.seconds(3600)
  /// When servers get no calls for a while; `nil`: never.
  var outlierDetection: OutlierRules?
  /// How its calls are reported; `nil`: they are not.
  var reports: ReportRule?

  /// The name of its endpoints, if that is another than its own.
  var service: String {
    if case .endpoints(let service) = kind, !service.isExactly(name) { return service }
    return ""
  }
}
