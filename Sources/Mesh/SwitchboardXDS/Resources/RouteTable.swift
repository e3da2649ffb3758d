import SwitchboardBalancing
import SwitchboardPatterns
import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

/// Which calls go to which clusters: a route configuration.
struct RouteTable: Hashable, Sendable {
  var virtualHosts: [VirtualHost]

  /// The routes of a name: those of the host with the most specific of the domains that match.
  func host(for name: String) -> VirtualHost? {
    let name = [UInt8](lowercased: name)
    var best: (host: VirtualHost, domain: DomainPattern)?
    for host in virtualHosts {
      for domain in host.domains where domain.matches(name) {
        if let best, (best.domain.kind, -best.domain.length) <= (domain.kind, -domain.length) { continue }
        best = (host, domain)
      }
    }
    return best?.host
  }
}

/// The routes of some names.
struct VirtualHost: Hashable, Sendable {
  var domains: [DomainPattern]
  var routes: [Route]
  /// What filters do with its calls.
  var overrides = FilterOverrides()

  /// The clusters that calls may go to.
  var clusters: Set<ExactText> {
    Set(routes.flatMap { $0.action?.clusters.map { ExactText($0.name) } ?? [] })
  }
}

/// A route: which calls it is for, and what becomes of them.
struct Route: Hashable, Sendable {
  var match: RouteMatch
  /// `nil` for an action that clients do not have: the calls fail.
  var action: RouteAction?
  /// What filters do with its calls.
  var overrides = FilterOverrides()
}

/// Where calls go, and how they are made.
struct RouteAction: Hashable, Sendable {
  struct WeightedCluster: Hashable, Sendable {
    var name: String
    /// Above 0.
    var weight: Int
    /// What filters do with its calls.
    var overrides = FilterOverrides()
  }

  enum Timeout: Hashable, Sendable {
    case ofListener
    case limit(Duration?)
  }

  /// At least one. The sum of the weights has at most 32 bits.
  var clusters: [WeightedCluster]
  var timeout = Timeout.ofListener
  var retry: RetryRule?
  var hash: [HashRule] = []
  /// Whether calls have the host of their server as authority (gRFC A81).
  var rewritesAuthority = false
}

/// How calls are repeated (gRFC A44).
struct RetryRule: Hashable, Sendable {
  /// The names of conditions that gRPC knows.
  var conditions: [Condition]
  var retries: Int
  var baseInterval = Duration.milliseconds(25)
  var maxInterval = Duration.milliseconds(250)

  enum Condition: String, CaseIterable, Hashable, Sendable {
    case cancelled
    case deadlineExceeded = "deadline-exceeded"
    case internalError = "internal"
    case resourceExhausted = "resource-exhausted"
    case unavailable
  }
}

/// A part of what decides which server of a cluster a call goes to (gRFC A42).
struct HashRule: Hashable, Sendable {
  enum Source: Hashable, Sendable {
    /// A field of the metadata, as it is or rewritten.
    case header(MetadataField, rewrite: Substitution?)
    /// A number of the channel.
    case channel
  }

  var source: Source
  /// Whether the ones after this one count only if this one finds nothing.
  var isTerminal: Bool
}
