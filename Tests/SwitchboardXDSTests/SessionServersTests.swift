import Foundation
import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText
import Testing

@testable import SwitchboardXDS

/// Which servers are kept for sessions, and how long.
@Suite struct SessionServersTests {
  /// A policy that a test is.
  private final class Policy: SubchannelObserver {
    func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState) {}
  }

  private final class Call: CallToPick {
    let method = MethodDescriptor(service: "a.B", method: "C", type: .unary)
    let metadata = HPACKHeaders()
    let route: CallRoute?

    init(to number: Int) {
      let text = "s=" + Data("0.0.0.\(number):1;c".utf8).base64EncodedString()
      let cookie = SessionCookie(Array("s".utf8), in: HPACKHeaders([("cookie", text)]))
      let session = CookieSession(SessionRule(name: Array("s".utf8)), cookie, cluster: "c")
      route = CallRoute(to: "c").joining(session)
    }
  }

  private final class Bench {
    let host = BenchHost()
    var made: [BenchServer] = []
    var becomes = ConnectivityState.connecting
    let policy = Policy()
    let elsewhere = BenchServer([], Policy())
    private(set) lazy var servers = SessionServers(host) { [unowned self] addresses, _, observer in
      let server = BenchServer(addresses, observer)
      server.becomes = becomes
      made.append(server)
      return server
    }

    func update(_ numbers: [Int], draining: [Int] = [], keepsSessions: Bool = true) -> Bool {
      var cluster = ClusterResource(name: "c", kind: .endpoints("e"), policy: .whole([]))
      cluster.sessionHealth = [.unknown, .draining]
      cluster.idleTimeout = .seconds(60)
      func endpoints(_ numbers: [Int]) -> [Endpoint] {
        numbers.map { Endpoint([.ipv4(UInt32($0), port: 1)]) }
      }
      var place = EndpointsResource.Place(name: "p", weight: 1, endpoints: endpoints(numbers))
      place.draining = endpoints(draining)
      var leaf = LeafConfig(
        cluster: cluster,
        endpoints: EndpointsResource(priorities: [[place]], drops: [])
      )
      leaf.keepsSessions = keepsSessions
      return servers.update(leaf)
    }

    /// The policies get a server.
    func take(_ number: Int) -> any Subchannel {
      servers.makeSubchannel([.ipv4(UInt32(number), port: 1)], SubchannelOptions(), policy)
    }

    func state(_ index: Int) -> ConnectivityState? {
      made.indices.contains(index) ? made[index].state.connectivity : nil
    }

    func set(_ index: Int, _ state: ConnectivityState) {
      if made.indices.contains(index) { made[index].set(state) }
    }

    /// The number of the server that a call goes to, and below 0 if it waits there; 0 for the choice of the policies.
    func pick(_ number: Int) -> Int? {
      let call = Call(to: number)
      let child = ConstantPicker(.subchannel(elsewhere))
      switch servers.picker(over: child, for: call).pick(call) {
      case .subchannel(let found, _):
        guard let address = (found as? BenchServer)?.addresses.first, case .ipv4(let bits, _) = address else {
          return 0
        }
        return found.state.connectivity == .ready ? Int(bits) : -Int(bits)
      default: return nil
      }
    }
  }

  private let bench = Bench()

  @Test func aServerThatThePoliciesDoNotHaveIsKeptWhileSessionsUseIt() {
    #expect(bench.update([1, 2]))
    _ = bench.take(1)
    #expect(bench.pick(2) == -2 && bench.pick(2) == -2 && bench.made.count == 2)
    bench.set(1, .ready)
    for _ in 0..<10 {
      #expect(bench.pick(2) == 2)
      bench.host.clock.advance(by: .seconds(59))
      #expect(bench.state(1) == .ready)
    }
    bench.host.clock.advance(by: .seconds(60))
    #expect(bench.state(1) == .shutdown && bench.host.clock.pending == 0)
    // It is connected again for the next one.
    #expect(bench.pick(2) == -2 && bench.made.count == 3)
    // The policies' takes its place.
    bench.set(2, .ready)
    _ = bench.take(2)
    #expect(bench.state(2) == .shutdown && bench.made.count == 4)
    bench.set(3, .ready)
    #expect(bench.pick(2) == 2)
  }

  @Test(arguments: [true, false])
  func aServerThatThePoliciesGiveUpIsKeptIfASessionUsesIt(_ isUsed: Bool) {
    _ = bench.update([1])
    let server = bench.take(1)
    bench.set(0, .ready)
    #expect(bench.pick(1) == 1)
    if !isUsed { bench.host.clock.advance(by: .seconds(60)) }
    #expect(!bench.update([], draining: [1]))
    server.shutDown()
    #expect(bench.state(0) == (isUsed ? .ready : .shutdown))
    #expect(bench.pick(1) == (isUsed ? 1 : -1) && bench.made.count == (isUsed ? 1 : 2))
    // It is gone for good.
    #expect(!bench.update([]))
    #expect(bench.made.allSatisfy { $0.state.connectivity == .shutdown })
    #expect(bench.pick(1) == 0)
  }

  @Test func nothingIsKeptOfWhatIsSecuredInAnotherWay() {
    _ = bench.update([1, 2])
    let server = bench.take(1)
    bench.set(0, .ready)
    #expect(bench.pick(1) == 1 && bench.pick(2) == -2)
    bench.servers.forgetServers()
    server.shutDown()
    #expect(bench.made.allSatisfy { $0.state.connectivity == .shutdown })
    #expect(bench.host.clock.pending == 0)
  }

  /// A call does not wait for a server that cannot be reached.
  @Test func aServerThatFailsIsLeftToThePolicies() {
    _ = bench.update([1, 2])
    bench.becomes = .transientFailure
    #expect(bench.pick(1) == 0 && bench.pick(1) == 0 && bench.made.count == 1)
    bench.becomes = .connecting
    #expect(bench.pick(2) == -2)
    bench.set(1, .transientFailure)
    #expect(bench.pick(2) == 0)
    bench.made.last?.becomes = .connecting
    bench.set(1, .idle)
    #expect(bench.pick(2) == -2 && bench.made.count == 2)
  }

  /// Calls wait at it.
  @Test func aServerThatIsConnectingIsNotGivenUp() {
    _ = bench.update([1, 2])
    #expect(bench.pick(2) == -2)
    bench.host.clock.advance(by: .seconds(600))
    #expect(bench.state(0) == .connecting)
    bench.set(0, .transientFailure)
    #expect(bench.pick(2) == 0)
    bench.host.clock.advance(by: .seconds(60))
    #expect(bench.state(0) == .shutdown && bench.host.clock.pending == 0)
  }

  /// A peer writes the list, and each pick reads it.
  @Test func aCookieHasFewAddresses() {
    let list = (100..<500).map { "1.1.1.1:\($0)" }.joined(separator: ",")
    let text = "s=" + Data("\(list);c".utf8).base64EncodedString()
    let cookie = SessionCookie(Array("s".utf8), in: HPACKHeaders([("cookie", text)]))
    #expect(cookie?.addresses.count == 64 && cookie?.cluster == "c")
    let session = CookieSession(SessionRule(name: Array("s".utf8)), nil, cluster: "c")
    session.mayGo(to: [
      ExactText("1.1.1.1:1"): String(repeating: "1.1.1.1:1,", count: 1000), ExactText("1.1.1.1:2"): list,
    ])
    #expect(session.cookie(from: "1.1.1.1:1") == nil)
    #expect(session.cookie(from: "1.1.1.1:2")?.hasPrefix("s=") == true)
  }

  @Test func aShortLifetimeIsNotNone() {
    let rule = SessionRule(name: Array("s".utf8), lifetime: .milliseconds(500))
    let cookie = CookieSession(rule, nil, cluster: "c").cookie(from: "1.1.1.1:1")
    #expect(cookie?.hasSuffix("; Max-Age=1") == true)
  }

  @Test func withoutSessionsThereIsNothingToDo() {
    #expect(!bench.update([1], keepsSessions: false))
    #expect(bench.pick(1) == 0 && bench.made.isEmpty)
    #expect(bench.update([1]) && bench.update([1], keepsSessions: false))
    #expect(bench.pick(1) == 0 && bench.made.isEmpty)
  }
}
