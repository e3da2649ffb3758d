import SwitchboardBalancing
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText
import Testing
import XDSMessages

@testable import SwitchboardXDS

/// Config that is small on the wire, and would be large or slow in a client. What grows with the square of it would take hours here.
@Suite(.timeLimit(.minutes(2))) struct HostileConfigTests {
  private func routes(to clusters: [String]) -> ResourceUpdate {
    let action = RouteAction(clusters: clusters.map { .init(name: $0, weight: 1) })
    let host = VirtualHost(
      domains: [DomainPattern("*")].compactMap(\.self),
      routes: [Route(match: RouteMatch(path: .prefix([])), action: action)]
    )
    return .resource(.success(.routes(RouteTable(virtualHosts: [host]))))
  }

  private func cluster(_ name: String, _ kind: ClusterResource.Kind) -> ResourceUpdate {
    .resource(
      .success(.cluster(ClusterResource(name: name, kind: kind, policy: .byLocality([.init("round_robin")]))))
    )
  }

  private func tree(to clusters: [String]) -> DependencyTree {
    var tree = DependencyTree(listener: "l", authority: "name")
    _ = tree.received(
      ResourceKey(.listener, "l"),
      .resource(.success(.listener(ListenerResource(routes: .named("r")))))
    )
    _ = tree.received(ResourceKey(.routes, "r"), routes(to: clusters))
    return tree
  }

  private func place(_ name: String, _ count: Int) -> EndpointsResource.Place {
    .init(name: name, weight: 1, endpoints: (0..<count).map { Endpoint([.ipv4(UInt32($0), port: 1)]) })
  }

  private func failures(_ config: MeshConfig) -> [String] {
    config.clusters.values.compactMap { if case .failed(let reason) = $0 { reason } else { nil } }
  }

  private func config(_ outcome: DependencyTree.Outcome) -> MeshConfig? {
    if case .config(let config) = outcome { config } else { nil }
  }

  @Test func manyResourcesAreAskedForInTimeThatIsProportional() {
    var state = DiscoveryState()
    state.opened()
    _ = state.connected()
    let count = 30_000
    var timers = 0
    for number in 0..<count {
      for action in state.watch(ResourceKey(.cluster, "c\(number)"), number) {
        if case .startTimer = action { timers += 1 }
      }
    }
    #expect(timers == count)
  }

  /// Each may be a reason to ask another control plane.
  @Test func manyResourcesThatNobodyCanBeAskedForFailInTimeThatIsProportional() {
    var state = DiscoveryState(servers: [.init(), .init()], authorities: [ServerChoice([0, 1])])
    _ = state.watch(ResourceKey(.listener, "l"), 0, of: 0)
    for server in 0...1 {
      state.opened(server)
      _ = state.ended(server, GRPCStatus(code: .unavailable, message: "lost"))
    }
    let count = 30_000
    var failures = 0
    for number in 1...count {
      for case .tell(_, .resource(.failure)) in state.watch(
        ResourceKey(.cluster, "c\(number)"),
        number,
        of: 0
      ) {
        failures += 1
      }
    }
    #expect(failures == count)
  }

  /// A hundred bytes of each cluster would lead to a megabyte of servers.
  @Test func serversThatManyClustersShareCountForEach() throws {
    let names = (0..<200).map { "c\($0)" }
    var tree = tree(to: names)
    for name in names { _ = tree.received(ResourceKey(.cluster, name), cluster(name, .endpoints("e"))) }
    let servers = EndpointsResource(priorities: [[place("p", 10_000)]], drops: [])
    _ = tree.received(ResourceKey(.endpoints, "e"), .resource(.success(.endpoints(servers))))
    let outcome = tree.resolve().outcome
    let found = try #require(config(outcome))
    let failures = failures(found)
    #expect(failures.count == 200 - DependencyTree.sizeLimit / 10_001)
    #expect(
      failures.allSatisfy {
        $0 == "the clusters of the channel lead to more than 131072 clusters, places and addresses"
      }
    )
    // The same ones have room each time.
    let again = tree.resolve().outcome
    #expect(again == outcome)
    guard case .leaves? = found.clusters["c0"], case .failed? = found.clusters["c99"] else {
      Issue.record("other ones have room")
      return
    }
  }

  @Test func aggregatesThatLeadToTheSameClustersCountEachTime() throws {
    let (tops, leaves) = ((0..<1000).map { "top\($0)" }, (0..<1000).map { "leaf\($0)" })
    var tree = tree(to: tops)
    for name in tops { _ = tree.received(ResourceKey(.cluster, name), cluster(name, .aggregate(["middle"]))) }
    _ = tree.received(ResourceKey(.cluster, "middle"), cluster("middle", .aggregate(leaves)))
    for name in leaves { _ = tree.received(ResourceKey(.cluster, name), cluster(name, .endpoints("e"))) }
    let nobody = EndpointsResource(priorities: [], drops: [])
    _ = tree.received(ResourceKey(.endpoints, "e"), .resource(.success(.endpoints(nobody))))
    let outcome = tree.resolve().outcome
    let found = try #require(config(outcome))
    #expect(failures(found).count > 800)
  }

  /// No more is asked for than could be used.
  @Test func namesOfClustersThatThereAreNotAreBounded() {
    let middle = (0..<400).map { "m\($0)" }
    var tree = tree(to: ["top"])
    _ = tree.received(ResourceKey(.cluster, "top"), cluster("top", .aggregate(middle)))
    for name in middle {
      let names = (0..<1024).map { "\(name)-\($0)" }
      _ = tree.received(ResourceKey(.cluster, name), cluster(name, .aggregate(names)))
    }
    let watches = tree.resolve().watches
    #expect(watches.count <= DependencyTree.sizeLimit + 10)
  }

  // MARK: Resources

  private func fault(_ message: some Message, _ type: ResourceType) throws -> String? {
    let packed = try Google_Protobuf_Any(message: message)
    let read = try #require(ResourceReader().read([packed], of: type).first)
    return switch read.result {
    case .success: nil
    case .failure(let fault): fault.description
    }
  }

  @Test func whatACallIsComparedWithIsBounded() throws {
    func drops(_ count: Int) -> Envoy_Config_Endpoint_V3_ClusterLoadAssignment {
      .with {
        $0.clusterName = "e"
        $0.policy.dropOverloads = (0..<count).map { _ in .init() }
      }
    }
    #expect(try fault(drops(100), .endpoints) == nil)
    #expect(try fault(drops(101), .endpoints) == "policy.drop_overloads: are more than 100")
    typealias Routes = Envoy_Config_Route_V3_RouteConfiguration
    func table(domains: Int = 1, headers: Int = 0, hashes: Int = 0) -> Routes {
      .with {
        $0.name = "r"
        $0.virtualHosts = [
          .with {
            $0.domains = (0..<domains).map { "d\($0)" }
            $0.routes = [
              .with {
                $0.match.prefix = ""
                $0.match.headers = (0..<headers).map { _ in
                  .with { ($0.name, $0.presentMatch) = ("a", false) }
                }
                $0.route.cluster = "c"
                $0.route.hashPolicy = (0..<hashes).map { _ in .with { $0.header.headerName = "a" } }
              }
            ]
          }
        ]
      }
    }
    #expect(try fault(table(headers: 65_472, hashes: 64), .routes) == nil)
    #expect(
      try fault(table(headers: 65_473, hashes: 64), .routes)
        == "virtual_hosts: have more than 65536 rules for headers and hashes together"
    )
    #expect(
      try fault(table(hashes: 65), .routes)
        == "virtual_hosts[0].routes[0].route.hash_policy: has more than 64 rules"
    )
    #expect(try fault(table(domains: 262_144), .routes) == nil)
    #expect(
      try fault(table(domains: 262_145), .routes) == "virtual_hosts: have more than 262144 domains together"
    )
  }

  @Test func addressesOfAClusterAreBounded() throws {
    func servers(_ count: Int) -> Envoy_Config_Endpoint_V3_ClusterLoadAssignment {
      .with {
        $0.clusterName = "e"
        $0.endpoints = [
          .with {
            $0.loadBalancingWeight.value = 1
            $0.lbEndpoints = (0..<count).map { number in
              .with {
                $0.endpoint.address.socketAddress = .with {
                  ($0.address, $0.portValue) = ("10.0.\(number >> 16).1", UInt32(number & 0xffff))
                }
              }
            }
          }
        ]
      }
    }
    #expect(try fault(servers(65_536), .endpoints) == nil)
    #expect(
      try fault(servers(65_537), .endpoints)
        == "endpoints[0].lb_endpoints[65536]: is above the limit of 65536 addresses"
    )
  }

  // MARK: Logs

  private func logs(_ actions: [DiscoveryState.Action]) -> [String] {
    actions.compactMap { if case .log(_, _, let message) = $0 { message } else { nil } }
  }

  @Test func aResponseThatDeletesManyResourcesMakesFewLines() {
    var state = DiscoveryState()
    state.opened()
    let names = (0..<1000).map { "c\($0)" }
    for (number, name) in names.enumerated() { _ = state.watch(ResourceKey(.cluster, name), number) }
    let reads = names.map { name in
      ResourceReader.Read(
        name: name,
        result: .success(.cluster(ClusterResource(name: name, kind: .endpoints("e"), policy: .whole([]))))
      )
    }
    let first = logs(state.received(.cluster, version: "1", nonce: "", reads))
    #expect(first == [])
    for expected in ["was deleted, and is still used", "is there again"] {
      let lines = logs(
        state.received(.cluster, version: "2", nonce: "", expected == "is there again" ? reads : [])
      )
      #expect(lines.count == 9 && lines[0].hasSuffix(expected))
      #expect(lines.last == "and 992 more that were deleted, are not sent, or are there again")
    }
  }

  @Test func theSameRefusalIsLoggedOnce() {
    var state = DiscoveryState()
    state.opened()
    _ = state.watch(ResourceKey(.cluster, "c"), 1)
    let wrong = ResourceReader.Read(name: "c", result: .failure(ResourceFault("type", "is missing")))
    let right = ResourceReader.Read(
      name: "c",
      result: .success(.cluster(ClusterResource(name: "c", kind: .endpoints("e"), policy: .whole([]))))
    )
    let lines = [("1", wrong), ("1", wrong), ("2", right), ("1", wrong)].map { version, read in
      logs(state.received(.cluster, version: version, nonce: "", [read]))
    }
    let line = "refused of version 1: c: type: is missing"
    #expect(lines == [[line], [], [], [line]])
  }

  @Test func aResponseThatIsTooLargeIsRefusedAndChangesNothing() {
    var state = DiscoveryState()
    state.opened()
    let key = ResourceKey(.cluster, "c")
    let resource = Resource.cluster(ClusterResource(name: "c", kind: .endpoints("e"), policy: .whole([])))
    _ = state.watch(key, 1)
    _ = state.received(.cluster, version: "1", nonce: "a", [.init(name: "c", result: .success(resource))])
    while state.nextRequest() != nil {}
    let lines = logs(state.refused(.cluster, nonce: "b", .tooManyResources))
    #expect(lines == ["refused: the response has more than 131072 resources and errors of resources"])
    #expect(state.resource(key) == resource)
    let request = state.nextRequest()
    #expect(request?.refusal == "the response has more than 131072 resources and errors of resources")
    #expect(request?.version == "1" && request?.nonce == "b")
  }

  // MARK: Pace

  @Test func aConfigThatChangesAllTheTimeGetsAQuarterOfTheLoop() {
    var pace = RefreshPace()
    #expect(pace.wait(at: .seconds(5)) == .zero)
    pace.begins(at: .seconds(5))
    pace.ends(at: .seconds(6))
    #expect(pace.wait(at: .seconds(6)) == .seconds(3))
    #expect(pace.wait(at: .seconds(8)) == .seconds(1))
    #expect(pace.wait(at: .seconds(9)) == .zero)
    pace.begins(at: .seconds(10))
    pace.ends(at: .seconds(40))
    #expect(pace.wait(at: .seconds(40)) == .seconds(5))
  }
}
