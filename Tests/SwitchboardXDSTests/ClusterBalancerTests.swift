import Foundation
import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText
import Testing

@testable import SwitchboardXDS

/// What a cluster's policies make of calls: of one with servers, and of an aggregate (gRFC A75).
@Suite struct ClusterBalancerTests {
  private final class Call: CallToPick {
    let method = MethodDescriptor(service: "a.B", method: "C", type: .unary)
    let metadata = HPACKHeaders()
    let route: CallRoute?

    /// A call of a session that is at a server, or of none.
    init(at number: Int? = nil) {
      let session = number.map { number in
        let text = "s=" + Data("0.0.0.\(number):1;c".utf8).base64EncodedString()
        let cookie = SessionCookie(Array("s".utf8), in: HPACKHeaders([("cookie", text)]))
        return CookieSession(SessionRule(name: Array("s".utf8)), cookie, cluster: "c")
      }
      route = CallRoute(to: "c", session: session)
    }
  }

  private let host = BenchHost()

  private func balancer() -> ClusterBalancer {
    ClusterBalancer("all", of: host, LeafCluster(contexts: nil) { _ in nil }) { _, _ in }
  }

  /// A cluster with servers of these numbers in each priority.
  private func leaf(_ name: String, _ priorities: [[Int]]) -> LeafConfig {
    let places = priorities.enumerated().map { position, numbers in
      let endpoints = numbers.map { Endpoint([.ipv4(UInt32($0), port: 1)]) }
      return [EndpointsResource.Place(name: "p\(position)", weight: 1, endpoints: endpoints)]
    }
    return LeafConfig(
      cluster: ClusterResource(
        name: name,
        kind: .endpoints("e"),
        policy: .whole([LoadBalancingConfig("round_robin")])
      ),
      endpoints: EndpointsResource(priorities: places, drops: [])
    )
  }

  private func number(_ subchannel: any Subchannel) -> Int {
    guard case .ipv4(let bits, _)? = (subchannel as? BenchServer)?.addresses.first else { return 0 }
    return Int(bits)
  }

  /// Makes a call. Returns the number of its server, or why it fails.
  private func call(
    _ balancer: ClusterBalancer,
    _ call: Call = Call(),
    _ code: GRPCStatus.Code = .ok
  ) -> (server: Int, failure: String?) {
    switch balancer.picker.pick(call) {
    case .subchannel(let found, let tracker):
      tracker?.callEnded(CallOutcome(status: GRPCStatus(code: code)))
      return (number(found), nil)
    case .fail(let status), .drop(let status): return (0, status.message)
    case .wait: return (0, nil)
    }
  }

  private let detection: [String: ConfigValue] = [
    "interval": .string("10s"),
    "failurePercentageEjection": .object([
      "threshold": .number(50), "minimumHosts": .number(1), "requestVolume": .number(1),
    ]),
  ]

  /// The calls that a cookie leads count. Ejection has other calls go elsewhere, but the session stays, as by gRPC's C-core.
  @Test(arguments: [false, true])
  func theCallsOfSessionsCountForOutlierDetection(_ isAggregate: Bool) throws {
    host.becomes = .ready
    var leaf = leaf("c", [[1, 2, 3], [4]])
    leaf.cluster.outlierDetection = try OutlierRules(detection)
    leaf.keepsSessions = true
    let balancer = balancer()
    defer { balancer.shutDown() }
    balancer.update(.leaves([leaf], isAggregate: isAggregate))
    for number in [1, 4] {
      for _ in 0..<3 { #expect(call(balancer, Call(at: number), .unavailable).server == number) }
    }
    for _ in 0..<6 { #expect((1...3).contains(call(balancer).server)) }
    host.clock.advance(by: .seconds(10))
    for _ in 0..<6 { #expect((2...3).contains(call(balancer).server)) }
    #expect(call(balancer, Call(at: 1)).server == 1 && call(balancer, Call(at: 4)).server == 4)
    // Of four servers, one tenth may be ejected, and at least one: the other one is not.
    leaf.endpoints = EndpointsResource(
      priorities: leaf.endpoints?.priorities.reversed() ?? [],
      drops: []
    )
    balancer.update(.leaves([leaf], isAggregate: isAggregate))
    #expect(call(balancer).server == 4)
  }

  /// The label of metrics (gRFC A89).
  @Test func aServerBelongsToItsCluster() {
    host.becomes = .transientFailure
    let balancer = balancer()
    defer { balancer.shutDown() }
    balancer.update(.leaves([leaf("c", [[1]]), leaf("d", [[2]])], isAggregate: true))
    let services = host.made.map { "\(number($0)) \($0.labels["grpc.lb.backend_service"] ?? "")" }
    #expect(Set(services) == ["1 c", "2 d"])
  }

  /// Ejection changes nothing about connections (gRFC A61).
  @Test func anEjectedServerIsConnectedAgainForItsSessions() throws {
    host.becomes = .ready
    var leaf = leaf("c", [[1, 2, 3]])
    leaf.cluster.outlierDetection = try OutlierRules(detection)
    leaf.keepsSessions = true
    let balancer = balancer()
    defer { balancer.shutDown() }
    balancer.update(.leaves([leaf], isAggregate: false))
    for _ in 0..<3 { _ = call(balancer, Call(at: 1), .unavailable) }
    host.clock.advance(by: .seconds(10))
    let server = try #require(host.made.first { number($0) == 1 })
    server.becomes = .connecting
    server.set(.idle)
    // The call waits there. Others do not go there afterwards either.
    #expect(call(balancer, Call(at: 1)).server == 1 && server.state.connectivity == .connecting)
    server.set(.ready)
    #expect(call(balancer, Call(at: 1)).server == 1)
    for _ in 0..<6 { #expect((2...3).contains(call(balancer).server)) }
    server.set(.transientFailure)
    #expect((2...3).contains(call(balancer, Call(at: 1)).server))
  }

  /// A control plane may name other clusters as often as it likes.
  @Test(arguments: [false, true], [nil, 2])
  func nothingIsLeftOfAClusterThatIsGone(_ isAggregate: Bool, _ session: Int?) {
    host.becomes = .ready
    weak var trace: ClusterBalancer?
    do {
      let balancer = balancer()
      trace = balancer
      var leaf = leaf("c", [[1, 2]])
      leaf.keepsSessions = true
      balancer.update(.leaves([leaf], isAggregate: isAggregate))
      // Which is picked for by what the policies have made.
      #expect(call(balancer, Call(at: session)).server > 0)
      balancer.shutDown()
    }
    host.forgetServers()
    #expect(trace == nil)
  }

  @Test func eachClusterOfAnAggregateHasItsOwnLimitsAndPolicy() {
    host.becomes = .ready
    var (first, second) = (leaf("a", [[]]), leaf("b", [[1, 2]]))
    first.endpoints = EndpointsResource(priorities: [], drops: [.init(category: "x", millionths: 1_000_000)])
    second.cluster.policy = .whole([LoadBalancingConfig("pick_first")])
    let balancer = balancer()
    defer { balancer.shutDown() }
    balancer.update(.leaves([first, second], isAggregate: true))
    for _ in 0..<4 { #expect(call(balancer).server == 1) }
    second.endpoints = EndpointsResource(
      priorities: second.endpoints?.priorities ?? [],
      drops: [.init(category: "y", millionths: 1_000_000)]
    )
    balancer.update(.leaves([first, second], isAggregate: true))
    #expect(call(balancer).failure == "the control plane has calls dropped: y")
    #expect(host.made.count == 1)
  }

  /// Connections stay when clusters come before it.
  @Test func aClusterOfAnAggregateKeepsItsServersWhenItMoves() {
    host.becomes = .ready
    let (first, second) = (leaf("a", [[1]]), leaf("b", [[2]]))
    let balancer = balancer()
    defer { balancer.shutDown() }
    balancer.update(.leaves([second], isAggregate: true))
    #expect(call(balancer).server == 2)
    balancer.update(.leaves([first, second], isAggregate: true))
    #expect(call(balancer).server == 1)
    balancer.update(.leaves([second, first], isAggregate: true))
    #expect(call(balancer).server == 2 && host.made.map(\.state.connectivity) == [.ready, .ready])
    balancer.update(.failed("it is gone"))
    #expect(call(balancer).failure == "the cluster all: it is gone")
    // Reasons that name it already.
    balancer.update(.failed("the cluster all is invalid: type"))
    #expect(call(balancer).failure == "the cluster all is invalid: type")
    balancer.update(.failed("the cluster all2 is invalid: type"))
    #expect(call(balancer).failure == "the cluster all: the cluster all2 is invalid: type")
    #expect(host.made.map(\.state.connectivity) == [.shutdown, .shutdown])
  }

  /// They are what one policy chooses among.
  @Test func clustersWithServersOfAnAggregateAreBounded() {
    func failure(_ count: Int) -> String? {
      let balancer = balancer()
      defer { balancer.shutDown() }
      balancer.update(.leaves((0..<count).map { leaf("c\($0)", []) }, isAggregate: true))
      return call(balancer).failure
    }
    #expect(failure(1000) == "the cluster c999: it has no servers")
    #expect(failure(1001) == "the cluster all: it leads to more than 1000 clusters")
    #expect(failure(0) == "the cluster all: it leads to no cluster that there is")
  }
}
