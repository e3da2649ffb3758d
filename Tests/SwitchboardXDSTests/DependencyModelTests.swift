import SwitchboardBalancing
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
    /// The latest that was found of names that are looked up; a failure only before servers.
    var found: [EndpointAddress: Result<EndpointsResource, GRPCStatus>] = [:]
    var lookedUp: Set<EndpointAddress> = []
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
          switch dice.below(4) {
          case 0, 1: .aggregate(names(3))
          case 2: .endpoints("e\(dice.below(3))")
          default: .name(.name(host: "n\(dice.below(2))", port: 1))
          }
        return .cluster(ClusterResource(name: key.name.text, kind: kind, policy: .whole([])))
      case .endpoints:
        return .endpoints(
          EndpointsResource(priorities: [], drops: [.init(category: "", millionths: dice.below(9))])
        )
      }
    }

    /// What a walk finds: what is needed, and whether all of it is known.
    func needed() -> (keys: Set<ResourceKey>, names: Set<EndpointAddress>, host: VirtualHost?) {
      var keys: Set<ResourceKey> = [ResourceKey(.listener, "l")]
      var hosts: Set<EndpointAddress> = []
      guard case .success(.listener(let listener))? = known[ResourceKey(.listener, "l")],
        case .named(let name) = listener.routes
      else { return (keys, hosts, nil) }
      keys.insert(ResourceKey(.routes, name))
      guard case .success(.routes(let table))? = known[ResourceKey(.routes, name)],
        let host = table.host(for: "name")
      else { return (keys, hosts, nil) }
      var rest = Array(host.clusters.union(leased))
      while let name = rest.popLast() {
        let key = ResourceKey(.cluster, name.text)
        guard keys.insert(key).inserted, case .success(.cluster(let cluster))? = known[key] else { continue }
        switch cluster.kind {
        case .aggregate(let names): rest += names.map { ExactText($0) }
        case .endpoints(let name): keys.insert(ResourceKey(.endpoints, name))
        case .name(let name): hosts.insert(name)
        }
      }
      return (keys, hosts, host)
    }

    mutating func step() -> String? {
      if dice.below(10) == 0 {
        leased = Set(names(2).map { ExactText($0) })
        tree.lease(leased)
      } else if dice.below(4) == 0, let name = lookedUp.min(by: { "\($0)" < "\($1)" }) {
        let drops = [EndpointsResource.Drop(category: "", millionths: dice.below(9))]
        let result: Result<EndpointsResource, GRPCStatus> =
          dice.below(3) == 0
          ? .failure(GRPCStatus(code: .unavailable, message: "gone"))
          : .success(EndpointsResource(priorities: [], drops: drops))
        if (try? found[name]?.get()) == nil || (try? result.get()) != nil { found[name] = result }
        _ = tree.received(name, result)
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
      let step = tree.resolve()
      let (keys, names, host) = needed()
      (watched, lookedUp) = (step.watches, step.names)
      guard watched == keys else { return "\(watched) is watched, and \(keys) is needed" }
      guard lookedUp == names else { return "\(lookedUp) is looked up, and \(names) is needed" }
      known = known.filter { keys.contains($0.key) }
      found = found.filter { names.contains($0.key) }
      return fault(in: step.outcome, keys, names, host)
    }

    private func fault(
      in outcome: DependencyTree.Outcome,
      _ keys: Set<ResourceKey>,
      _ names: Set<EndpointAddress>,
      _ host: VirtualHost?
    ) -> String? {
      let isWhole = keys.allSatisfy { known[$0] != nil } && names.allSatisfy { found[$0] != nil }
      switch outcome {
      case .incomplete: return isWhole ? "all is there, and not used" : nil
      case .failed: return host == nil ? nil : "there are routes, and they are not used"
      case .config(let config):
        guard isWhole else { return "a config is used that is not whole" }
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
        latest == leaf.cluster
      else { return "a cluster is not the latest" }
      let latestServers: Result<EndpointsResource, GRPCStatus>?
      switch leaf.cluster.kind {
      case .aggregate: return "an aggregate has servers"
      case .name(let name): latestServers = found[name]
      case .endpoints(let name):
        latestServers = known[ResourceKey(.endpoints, name)]?.map {
          if case .endpoints(let servers) = $0 { servers } else { .init(priorities: [], drops: []) }
        }
      }
      switch latestServers {
      case .success(let endpoints): return leaf.endpoints == endpoints ? nil : "old endpoints"
      case .failure: return leaf.endpoints == nil && leaf.note == "gone" ? nil : "endpoints that are gone"
      case nil: return "endpoints from nowhere"
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
