import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText
import Testing

@testable import SwitchboardXDS

@Suite struct DependencyTreeTests {
  private let missing = ResourceUpdate.resource(
    .failure(GRPCStatus(code: .notFound, message: "it is missing"))
  )

  private func routes(to clusters: [String]) -> ResourceUpdate {
    let action = RouteAction(clusters: clusters.map { .init(name: $0, weight: 1) })
    let host = VirtualHost(
      domains: [DomainPattern("*")].compactMap(\.self),
      routes: [Route(match: RouteMatch(path: .prefix([])), action: action)]
    )
    return .resource(.success(.routes(RouteTable(virtualHosts: [host]))))
  }

  private func cluster(_ name: String, aggregate: [String]? = nil) -> ResourceUpdate {
    let kind = aggregate.map { ClusterResource.Kind.aggregate($0) } ?? .endpoints("of \(name)")
    return .resource(
      .success(.cluster(ClusterResource(name: name, kind: kind, policy: .byLocality([.init("round_robin")]))))
    )
  }

  private func endpoints(_ number: Int) -> ResourceUpdate {
    .resource(
      .success(
        .endpoints(EndpointsResource(priorities: [], drops: [.init(category: "", millionths: number)]))
      )
    )
  }

  private func start(_ tree: Tree = Tree()) -> Tree {
    _ = tree.received(
      ResourceKey(.listener, "l"),
      .resource(.success(.listener(ListenerResource(routes: .named("r")))))
    )
    return tree
  }

  private func config(_ tree: Tree) -> MeshConfig? {
    if case .config(let config) = tree.resolve().outcome { config } else { nil }
  }

  @Test func nothingIsUsedBeforeAllIsThere() {
    #expect(Tree().resolve().watches == [ResourceKey(.listener, "l")])
    let tree = start()
    #expect(tree.resolve().watches == [ResourceKey(.listener, "l"), ResourceKey(.routes, "r")])
    _ = tree.received(ResourceKey(.routes, "r"), routes(to: ["a", "b"]))
    _ = tree.received(ResourceKey(.cluster, "a"), cluster("a"))
    #expect(
      tree.resolve().watches == [
        ResourceKey(.listener, "l"), ResourceKey(.routes, "r"), ResourceKey(.cluster, "a"),
        ResourceKey(.cluster, "b"), ResourceKey(.endpoints, "of a"),
      ]
    )
    _ = tree.received(ResourceKey(.cluster, "b"), missing)
    #expect(tree.resolve().outcome == .incomplete)
    _ = tree.received(ResourceKey(.endpoints, "of a"), endpoints(1))
    let config = config(tree)
    // What is wrong with one cluster is no trouble of another.
    #expect(config?.clusters["b"] == .failed("it is missing"))
    guard case .leaves(let leaves, false)? = config?.clusters["a"] else {
      Issue.record("no servers")
      return
    }
    #expect(leaves.map(\.endpoints?.drops.first?.millionths) == [1])
  }

  @Test func anotherClusterIsUsedOnceItIsWhole() {
    let tree = start()
    _ = tree.received(ResourceKey(.routes, "r"), routes(to: ["a"]))
    _ = tree.received(ResourceKey(.cluster, "a"), cluster("a"))
    _ = tree.resolve()
    _ = tree.received(ResourceKey(.endpoints, "of a"), endpoints(1))
    #expect(config(tree) != nil)
    _ = tree.received(ResourceKey(.routes, "r"), routes(to: ["b"]))
    #expect(tree.resolve().outcome == .incomplete)
    _ = tree.received(ResourceKey(.cluster, "b"), cluster("b"))
    #expect(tree.resolve().outcome == .incomplete)
    _ = tree.received(ResourceKey(.endpoints, "of b"), endpoints(2))
    #expect(config(tree)?.clusters.keys.map(\.text) == ["b"])
    // Calls that began with the old one keep it.
    tree.lease([ExactText("a")])
    #expect(tree.resolve().watches.contains(ResourceKey(.cluster, "a")))
  }

  @Test func withoutRoutesCallsFail() {
    let tree = Tree()
    _ = tree.received(ResourceKey(.listener, "l"), missing)
    #expect(tree.resolve().outcome == .failed("it is missing"))
    _ = tree.received(
      ResourceKey(.listener, "l"),
      .resource(.success(.listener(ListenerResource(routes: .ofServer))))
    )
    #expect(tree.resolve().outcome == .failed("the listener l is one of a server"))
    let table = RouteTable(virtualHosts: [])
    _ = tree.received(
      ResourceKey(.listener, "l"),
      .resource(.success(.listener(ListenerResource(routes: .inline(table)))))
    )
    #expect(tree.resolve().outcome == .failed("no virtual host is for name"))
  }

  /// What happens to resources that are still used is known to the clusters that depend on them (gRFC A88).
  @Test func clustersKnowWhatHasHappened() {
    let tree = start()
    _ = tree.received(ResourceKey(.routes, "r"), routes(to: ["a", "b"]))
    for name in ["a", "b"] {
      _ = tree.received(ResourceKey(.cluster, name), cluster(name))
      _ = tree.resolve()
      _ = tree.received(ResourceKey(.endpoints, "of \(name)"), endpoints(1))
    }
    func happens(_ key: ResourceKey, _ note: String?) -> Bool {
      tree.received(key, .ambient(note.map { GRPCStatus(code: .unavailable, message: $0) }))
    }
    func notes() -> [String?] {
      ["a", "b"].map { name in
        guard case .leaves(let leaves, _)? = config(tree)?.clusters[ExactText(name)] else {
          return "no servers"
        }
        return leaves[0].ambient
      }
    }
    #expect(notes() == [nil, nil])
    #expect(happens(ResourceKey(.routes, "r"), "lost") && happens(ResourceKey(.endpoints, "of a"), "lost"))
    #expect(!happens(ResourceKey(.routes, "r"), "lost"))
    #expect(notes() == ["lost", "lost"])
    #expect(happens(ResourceKey(.cluster, "b"), "refused"))
    #expect(notes() == ["lost", "lost; refused"])
    #expect(happens(ResourceKey(.routes, "r"), nil))
    #expect(notes() == ["lost", "refused"])
    // What is sent again is as good as new.
    _ = tree.received(ResourceKey(.cluster, "b"), cluster("b"))
    #expect(notes() == ["lost", nil])
  }

  @Test func anAggregateLeadsToItsClustersInOrder() {
    let tree = start()
    _ = tree.received(ResourceKey(.routes, "r"), routes(to: ["a"]))
    _ = tree.received(ResourceKey(.cluster, "a"), cluster("a", aggregate: ["b", "gone", "c", "b", "a"]))
    _ = tree.resolve()
    for name in ["b", "c"] { _ = tree.received(ResourceKey(.cluster, name), cluster(name)) }
    _ = tree.received(ResourceKey(.cluster, "gone"), missing)
    _ = tree.resolve()
    for name in ["b", "c"] { _ = tree.received(ResourceKey(.endpoints, "of \(name)"), endpoints(1)) }
    guard case .leaves(let leaves, _)? = config(tree)?.clusters["a"] else {
      Issue.record("no servers")
      return
    }
    #expect(leaves.map(\.cluster.name) == ["b", "c"])
  }

  /// A name is looked up as a resource is asked for, and failures count only before servers were found.
  @Test func aNameHasToBeLookedUp() {
    let (tree, name) = (start(), EndpointAddress.name(host: "a.example", port: 80))
    let named = ClusterResource(name: "a", kind: .name(name), policy: .whole([]))
    let servers = EndpointsResource(priorities: [], drops: [])
    let lost = GRPCStatus(code: .unavailable, message: "no such name")
    func leaf() -> LeafConfig? {
      guard case .leaves(let leaves, false)? = config(tree)?.clusters["a"] else { return nil }
      return leaves.first
    }
    _ = tree.received(ResourceKey(.routes, "r"), routes(to: ["a"]))
    #expect(tree.resolve().names == [])
    _ = tree.received(ResourceKey(.cluster, "a"), .resource(.success(.cluster(named))))
    #expect(tree.resolve().names == [name] && tree.resolve().outcome == .incomplete)
    #expect(tree.received(name, .failure(lost)))
    #expect(leaf() == LeafConfig(cluster: named, note: "no such name"))
    #expect(tree.received(name, .success(servers)))
    #expect(leaf() == LeafConfig(cluster: named, endpoints: servers))
    #expect(!tree.received(name, .failure(lost)))
    #expect(leaf() == LeafConfig(cluster: named, endpoints: servers))
    // What is not needed is forgotten.
    _ = tree.received(ResourceKey(.cluster, "a"), missing)
    #expect(tree.resolve().names == [])
    _ = tree.received(ResourceKey(.cluster, "a"), .resource(.success(.cluster(named))))
    #expect(tree.resolve().names == [name] && tree.resolve().outcome == .incomplete)
  }

  /// Of the same endpoints, one cluster may want the proxies, and another may not.
  @Test func endpointsAreReachedByTheirProxiesWhereTheirClusterWantsIt() {
    let tree = start()
    let (address, proxy) = (EndpointAddress.ipv4(1, port: 1), EndpointAddress.ipv4(2, port: 2))
    var endpoint = Endpoint([address, .ipv4(3, port: 3)])
    endpoint.attributes[EndpointProxy.self] = proxy
    let place = EndpointsResource.Place(name: "p", weight: 1, endpoints: [endpoint, Endpoint([address])])
    let servers = EndpointsResource(priorities: [[place]], drops: [], hasProxies: true)
    _ = tree.received(ResourceKey(.routes, "r"), routes(to: ["a", "b"]))
    for (name, usesProxies) in [("a", true), ("b", false)] {
      var cluster = ClusterResource(name: name, kind: .endpoints("e"), policy: .whole([]))
      cluster.usesProxies = usesProxies
      _ = tree.received(ResourceKey(.cluster, name), .resource(.success(.cluster(cluster))))
    }
    _ = tree.received(ResourceKey(.endpoints, "e"), .resource(.success(.endpoints(servers))))
    func addresses(_ name: String) -> [[EndpointAddress]]? {
      guard case .leaves(let leaves, _)? = config(tree)?.clusters[name] else { return nil }
      return leaves.compactMap(\.endpoints).flatMap(\.priorities).joined().flatMap(\.endpoints).map(
        \.addresses
      )
    }
    let proxied = [address, .ipv4(3, port: 3)].map { EndpointAddress.proxied($0, by: proxy) }
    #expect(addresses("a") == [proxied, [address]])
    #expect(addresses("b") == [endpoint.addresses, [address]])
  }

  /// A host without a name that TLS could send counts as none. A channel with its own security does not look at hosts.
  @Test(arguments: [true, false])
  func endpointsAreAskedForTheirHostsWhereTheirClusterWantsIt(_ usesClusterSecurity: Bool) {
    let tree = start(Tree(usesClusterSecurity: usesClusterSecurity))
    let hosts = ["a.example", "b.example:80", nil, "10.0.0.1", "[::1]:80", "c.example."]
    let bare = hosts.indices.map { EndpointAddress.ipv4(UInt32($0), port: 1) }
    let endpoints = zip(bare, hosts).map { address, host in
      var endpoint = Endpoint([address])
      endpoint.attributes[EndpointHostName.self] = host
      return endpoint
    }
    let places = [
      EndpointsResource.Place(
        name: "p",
        weight: 1,
        endpoints: Array(endpoints[..<5]),
        draining: [endpoints[5]]
      )
    ]
    _ = tree.received(ResourceKey(.routes, "r"), routes(to: ["a", "b"]))
    for (name, sendsHosts) in [("a", true), ("b", false)] {
      var cluster = ClusterResource(name: name, kind: .endpoints("e"), policy: .whole([]))
      cluster.security = ClusterSecurity(roots: .ofSystem, sendsHosts: sendsHosts)
      _ = tree.received(ResourceKey(.cluster, name), .resource(.success(.cluster(cluster))))
    }
    let servers = EndpointsResource(priorities: [places], drops: [])
    _ = tree.received(ResourceKey(.endpoints, "e"), .resource(.success(.endpoints(servers))))
    func addresses(_ name: String) -> [EndpointAddress]? {
      guard case .leaves(let leaves, _)? = config(tree)?.clusters[name] else { return nil }
      return leaves.compactMap(\.endpoints).flatMap(\.priorities).joined().flatMap(\.allEndpoints)
        .flatMap(\.addresses).sorted { $0.host < $1.host }
    }
    let names = ["a.example", "b.example", nil, nil, nil, "c.example"]
    let secured = zip(bare, names).map { address, name in name.map { .secured(address, as: $0) } ?? address }
    #expect(addresses("a") == (usesClusterSecurity ? secured : bare))
    #expect(addresses("b") == bare)
  }

  /// As long as nothing has happened, messages say who the client is.
  @Test(arguments: ["", "greeter-7"]) func theNodeIsNoted(_ node: String) {
    let tree = start(Tree(node: node))
    _ = tree.received(ResourceKey(.routes, "r"), routes(to: ["a"]))
    _ = tree.received(ResourceKey(.cluster, "a"), cluster("a"))
    _ = tree.received(ResourceKey(.endpoints, "of a"), endpoints(1))
    func note() -> String? {
      guard case .leaves(let leaves, _)? = config(tree)?.clusters["a"] else { return nil }
      return leaves.first?.ambient
    }
    let usual = node.isEmpty ? nil : "xDS node ID: greeter-7"
    #expect(note() == usual)
    let lost = GRPCStatus(code: .unavailable, message: "it is lost")
    _ = tree.received(ResourceKey(.endpoints, "of a"), .ambient(lost))
    #expect(note() == "it is lost")
    _ = tree.received(ResourceKey(.endpoints, "of a"), .ambient(nil))
    #expect(note() == usual)
  }

  @Test func aggregatesThatAreTooDeepAreRefused() {
    let tree = start()
    _ = tree.received(ResourceKey(.routes, "r"), routes(to: ["0"]))
    for number in 0..<40 {
      _ = tree.received(
        ResourceKey(.cluster, "\(number)"),
        cluster("\(number)", aggregate: ["\(number + 1)"])
      )
      _ = tree.resolve()
    }
    guard case .failed? = config(tree)?.clusters["0"] else {
      Issue.record("\(tree.resolve().outcome)")
      return
    }
  }

  @Test func prioritiesKeepTheirNamesWithTheirPlaces() {
    func place(_ name: String) -> EndpointsResource.Place { .init(name: name, weight: 1, endpoints: []) }
    var names = PriorityNames()
    names.start()
    #expect(names.name([place("a"), place("b")]) == "priority-1")
    #expect(names.name([place("d")]) == "priority-2")
    names.start()
    #expect(names.name([place("d")]) == "priority-2")
    #expect(names.name([place("b")]) == "priority-1")
    #expect(names.name([place("e")]) == "priority-3")
  }
}

/// A tree by reference, as expectations need it.
private final class Tree {
  private var tree: DependencyTree

  init(node: String = "", usesClusterSecurity: Bool = false) {
    tree = DependencyTree(
      listener: "l",
      authority: "name",
      node: node,
      usesClusterSecurity: usesClusterSecurity
    )
  }

  func received(_ key: ResourceKey, _ update: ResourceUpdate) -> Bool { tree.received(key, update) }
  func lease(_ clusters: Set<ExactText>) { tree.lease(clusters) }
  func resolve() -> DependencyTree.Step { tree.resolve() }

  func received(_ name: EndpointAddress, _ result: Result<EndpointsResource, GRPCStatus>) -> Bool {
    tree.received(name, result)
  }
}
