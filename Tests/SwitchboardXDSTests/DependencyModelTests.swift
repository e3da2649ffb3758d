import SwitchboardCall
import SwitchboardText
import Testing

@testable import SwitchboardXDS

/// Random resources that come, change, and go: what a channel may use is what a walk from its name finds, or nothing.
@Suite struct DependencyModelTests {
  private struct Life {
    var dice: Dice
    var tree = DependencyTree(listener: "l", authority: "name")
    /// The latest of what is watched.
    var known: [ResourceKey: Result<Resource, GRPCStatus>] = [:]
    var watched: Set<ResourceKey> = [ResourceKey(.listener, "l")]
    var leased: Set<ExactText> = []

    init(seed: UInt64) { dice = Dice(seed: seed) }

    mutating func names(_ most: Int) -> [String] {
      (0..<dice.below(most + 1)).map { _ in "c\(dice.below(5))" }
    }

    mutating func resource(_ key: ResourceKey) -> Resource {
      switch key.type {
      case .listener:
        return .listener(
          ListenerResource(routes: dice.below(5) == 0 ? .ofServer : .named("r\(dice.below(2))"))
        )
      case .routes:
        let action = RouteAction(
          clusters: (names(2) + ["c\(dice.below(5))"]).map { .init(name: $0, weight: 1) }
        )
        let route = Route(match: RouteMatch(path: .prefix([])), action: action)
        let domain = DomainPattern(dice.below(5) == 0 ? "other" : "*")
        return .routes(
          RouteTable(virtualHosts: [VirtualHost(domains: [domain].compactMap(\.self), routes: [route])])
        )
      case .cluster:
        let kind: ClusterResource.Kind =
          dice.below(2) == 0 ? .aggregate(names(3)) : .endpoints("e\(dice.below(3))")
        return .cluster(ClusterResource(name: key.name.text, kind: kind, policy: .whole([])))
      case .endpoints:
        return .endpoints(
          EndpointsResource(priorities: [], drops: [.init(category: "", millionths: dice.below(9))])
        )
      }
    }

    /// What a walk finds: what is needed, and whether all of it is known.
    func needed() -> (keys: Set<ResourceKey>, host: VirtualHost?) {
      var keys: Set<ResourceKey> = [ResourceKey(.listener, "l")]
      guard case .success(.listener(let listener))? = known[ResourceKey(.listener, "l")],
        case .named(let name) = listener.routes
      else { return (keys, nil) }
      keys.insert(ResourceKey(.routes, name))
      guard case .success(.routes(let table))? = known[ResourceKey(.routes, name)],
        let host = table.host(for: "name")
      else { return (keys, nil) }
      var rest = Array(host.clusters.union(leased))
      while let name = rest.popLast() {
        let key = ResourceKey(.cluster, name.text)
        guard keys.insert(key).inserted, case .success(.cluster(let cluster))? = known[key] else { continue }
        switch cluster.kind {
        case .aggregate(let names): rest += names.map { ExactText($0) }
        case .endpoints(let name): keys.insert(ResourceKey(.endpoints, name))
        }
      }
      return (keys, host)
    }

    mutating func step() -> String? {
      if dice.below(10) == 0 {
        leased = Set(names(2).map { ExactText($0) })
        tree.lease(leased)
      } else if let key = watched.sorted(by: { "\($0)" < "\($1)" }).dropFirst(dice.below(watched.count)).first
      {
        switch dice.below(6) {
        case 0:
          let failure = GRPCStatus(code: .notFound, message: "gone")
          known[key] = .failure(failure)
          _ = tree.received(key, .resource(.failure(failure)))
        case 1: _ = tree.received(key, .ambient(GRPCStatus(code: .unavailable)))
        default:
          let resource = resource(key)
          known[key] = .success(resource)
          _ = tree.received(key, .resource(.success(resource)))
        }
      }
      let (watches, outcome) = tree.resolve()
      let (keys, host) = needed()
      watched = watches
      guard watches == keys else { return "\(watches) is watched, and \(keys) is needed" }
      known = known.filter { keys.contains($0.key) }
      return fault(in: outcome, keys, host)
    }

    private func fault(
      in outcome: DependencyTree.Outcome,
      _ keys: Set<ResourceKey>,
      _ host: VirtualHost?
    ) -> String? {
      switch outcome {
      case .incomplete: return keys.allSatisfy { known[$0] != nil } ? "all is there, and not used" : nil
      case .failed: return host == nil ? nil : "there are routes, and they are not used"
      case .config(let config):
        guard keys.allSatisfy({ known[$0] != nil }) else { return "a config is used that is not whole" }
        guard config.host == host else { return "the routes are not the latest" }
        guard Set(config.clusters.keys) == config.host.clusters.union(leased) else { return "other clusters" }
        for case .leaves(let leaves, _) in config.clusters.values {
          for leaf in leaves { if let fault = fault(in: leaf) { return fault } }
        }
        return nil
      }
    }

    private func fault(in leaf: LeafConfig) -> String? {
      guard case .success(.cluster(let latest))? = known[ResourceKey(.cluster, leaf.cluster.name)],
        latest == leaf.cluster,
        case .endpoints(let name) = leaf.cluster.kind
      else { return "a cluster is not the latest" }
      switch known[ResourceKey(.endpoints, name)] {
      case .success(.endpoints(let endpoints)): return leaf.endpoints == endpoints ? nil : "old endpoints"
      case .failure: return leaf.endpoints == nil && leaf.note == "gone" ? nil : "endpoints that are gone"
      default: return "endpoints from nowhere"
      }
    }
  }

  @Test(arguments: 0..<20) func randomResourcesLeadToWholeConfigs(_ block: Int) {
    for seed in 0..<50 {
      var life = Life(seed: UInt64(block * 50 + seed))
      for step in 0..<80 {
        guard let fault = life.step() else { continue }
        Issue.record("seed \(block * 50 + seed), step \(step): \(fault)")
        return
      }
    }
  }
}
