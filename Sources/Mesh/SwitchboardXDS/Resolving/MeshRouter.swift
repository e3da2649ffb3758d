import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// Decides about calls by the routes of a virtual host: the first that matches.
final class MeshRouter: CallRouter {
  private enum Action: Sendable {
    case go(Split)
    /// The control plane wants something that clients do not do.
    case refuse
  }

  /// The clusters among which calls are divided.
  private struct Split: Sendable {
    /// At least one.
    let targets: [Target]
    /// The positions of the clusters by their names, if calls may name the one that they want.
    let positions: [ExactText: Int]

    init(_ targets: [Target], byName: Bool) {
      self.targets = targets
      let named = byName ? targets.enumerated().map { (ExactText($0.element.route.child), $0.offset) } : []
      positions = Dictionary(named) { first, _ in first }
    }
  }

  private struct Target: Sendable {
    let route: CallRoute
    /// Of the weights up to this one.
    let sum: Int
    /// How calls say which session they belong to; `nil`: they belong to none.
    let session: SessionRule?
  }

  private struct Entry: Sendable {
    let match: RouteMatch
    let action: Action
  }

  private let routes: [Entry]
  private let dice: SharedDice

  /// `lease` returns what keeps a cluster while calls may need it. `channel` is a number of the channel, for hashes.
  init(
    _ host: VirtualHost,
    _ filters: [FaultFilter],
    _ session: SessionFilter? = nil,
    maxStreamDuration: Duration?,
    channel: UInt64,
    lease: (String) -> ClusterLease
  ) {
    let dice = SharedDice()
    self.dice = dice
    let usual = FaultInjector(filters, [host.overrides.faults], dice).function
    routes = host.routes.map { route in
      guard let action = route.action, !action.clusters.isEmpty else {
        return Entry(match: route.match, action: .refuse)
      }
      let config = action.config(maxStreamDuration)
      let hash = action.hash.isEmpty ? nil : CallHash(rules: action.hash, channel: channel).function
      var sum = 0
      let weighted = action.clusters.map { cluster in
        sum += cluster.weight
        let overrides = [cluster.overrides, route.overrides, host.overrides]
        let isUsual = cluster.overrides.faults.isEmpty && route.overrides.faults.isEmpty
        let target = CallRoute(
          to: cluster.name,
          config: config,
          lease: lease(cluster.name),
          rewritesAuthority: action.rewritesAuthority,
          hash: hash,
          faults: isUsual
            ? usual : FaultInjector(filters, overrides.map(\.faults), dice).function
        )
        return Target(
          route: target,
          sum: sum,
          session: session.flatMap { filter in
            let own = overrides.lazy.compactMap { $0.sessions[filter.name] }.first
            return own.map(\.rule) ?? filter.rule
          }
        )
      }
      return Entry(match: route.match, action: .go(Split(weighted, byName: session != nil)))
    }
  }

  func route(_ method: MethodDescriptor, _ metadata: HPACKHeaders) throws(GRPCStatus) -> CallRoute {
    // By index: a route that does not match is not copied.
    let found = routes.indices.first { index in
      routes[index].match.matches(method, metadata) { dice.next(below: 1_000_000) }
    }
    guard let found else { throw .noRoute(method) }
    guard case .go(let split) = routes[found].action else { throw .noAction(method) }
    let chosen = choose(split.targets)
    guard let rule = chosen.session, rule.isFor(method.pathBytes) else { return chosen.route }
    return Self.join(rule, chosen.route, split, metadata)
  }

  /// The route of a call that may belong to a session: to the cluster that the session is in, if it is one of those that the call may
  /// go to (gRFC A60).
  private static func join(
    _ rule: SessionRule,
    _ chosen: CallRoute,
    _ split: Split,
    _ metadata: HPACKHeaders
  ) -> CallRoute {
    let cookie = SessionCookie(rule.name, in: metadata)
    // A peer writes the name.
    let position = cookie?.cluster.flatMap { split.positions[ExactText($0)] }
    let target = position.map { split.targets[$0].route } ?? chosen
    return target.joining(CookieSession(rule, cookie, cluster: target.child))
  }

  /// There is at least one.
  private func choose(_ weighted: [Target]) -> Target {
    var (low, high) = (0, weighted.count - 1)
    let point = high > 0 ? dice.next(below: weighted[high].sum) : 0
    while low < high {
      let middle = (low + high) / 2
      if weighted[middle].sum > point { high = middle } else { low = middle + 1 }
    }
    return weighted[low]
  }
}

/// Fails all calls: there are no routes.
final class FailingRouter: CallRouter {
  private let status: GRPCStatus

  init(_ status: GRPCStatus) { self.status = status }

  func route(_ method: MethodDescriptor, _ metadata: HPACKHeaders) throws(GRPCStatus) -> CallRoute {
    throw status
  }
}

/// Keeps a cluster for the calls that began with a route to it.
final class ClusterLease: Sendable {
  private let ended: @Sendable () -> Void

  init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }

  deinit { ended() }
}

extension RouteAction {
  /// How calls are made; `nil` if the route does not say.
  fileprivate func config(_ maxStreamDuration: Duration?) -> MethodConfig? {
    var config = MethodConfig(names: [])
    switch timeout {
    case .ofListener: config.timeout = maxStreamDuration
    case .limit(let limit): config.timeout = limit
    }
    if let retry, let policy = retry.policy { config.repetition = .retry(policy) }
    return config.timeout == nil && config.repetition == nil ? nil : config
  }
}

extension RetryRule {
  /// More attempts than gRPC makes are not made.
  fileprivate var policy: RetryPolicy? {
    try? RetryPolicy(
      maxAttempts: min(retries, RetryPolicy.attemptLimit) + 1,
      initialBackoff: baseInterval,
      maxBackoff: maxInterval,
      backoffMultiplier: 2,
      retryableStatusCodes: Set(conditions.map(\.code))
    )
  }
}

extension RetryRule.Condition {
  fileprivate var code: GRPCStatus.Code {
    switch self {
    case .cancelled: .cancelled
    case .deadlineExceeded: .deadlineExceeded
    case .internalError: .internalError
    case .resourceExhausted: .resourceExhausted
    case .unavailable: .unavailable
    }
  }
}

/// The hash of a call by the rules of its route.
private struct CallHash: Sendable {
  let rules: [HashRule]
  let channel: UInt64

  var function: @Sendable (HPACKHeaders) -> UInt64? { { hash(of: $0) } }

  private func hash(of metadata: HPACKHeaders) -> UInt64? {
    var hash: UInt64?
    for rule in rules {
      let own = self.hash(of: rule.source, metadata)
      if let own { hash = hash.map { ($0 << 1 | $0 >> 63) ^ own } ?? own }
      if rule.isTerminal, hash != nil { break }
    }
    return hash
  }

  private func hash(of source: HashRule.Source, _ metadata: HPACKHeaders) -> UInt64? {
    guard case .header(let field, let rewrite) = source else { return channel }
    return field.withValue(in: metadata) { value in
      guard let value else { return nil }
      guard let rewrite else { return XXHash64.hash(value.span) }
      let rewritten = rewrite.applied(to: value.span)
      return XXHash64.hash(rewritten.span)
    }
  }
}

extension GRPCStatus {
  fileprivate static func noRoute(_ method: MethodDescriptor) -> GRPCStatus {
    GRPCStatus(code: .unavailable, message: "no route is for \(method.path)", origin: .library)
  }

  fileprivate static func noAction(_ method: MethodDescriptor) -> GRPCStatus {
    GRPCStatus(
      code: .unavailable,
      message: "the route for \(method.path) leads to no cluster, and clients can do nothing else",
      origin: .library
    )
  }
}
