import SwitchboardCall
import Testing

@testable import SwitchboardBalancing

/// Calls that wait at a subchannel get another server while it is shut down: within the update, or the change of policy,
/// that removes it.
@Suite
struct ShutDownTests {
  private static let hashed: [String: ConfigValue] = ["requestHashHeader": .string("key")]
  private let bench = Bench()

  /// Picks for many calls whenever a subchannel is shut down. Returns what was picked.
  private func picksOnShutDown() -> Picks {
    let picks = Picks()
    for subchannel in bench.host.open {
      subchannel.onShutDown = { [weak bench] in
        for key in 0..<100 {
          guard let bench else { return }
          let pick = bench.pick(FakeCall([("key", "user-\(key)")]))
          pick.tracker?.callEnded(CallOutcome(status: nil))
          picks.all.append(pick)
        }
      }
    }
    return picks
  }

  private final class Picks {
    var all: [Pick] = []
  }

  private static let policies: [(String, [String: ConfigValue])] = [
    ("round_robin", [:]), ("weighted_round_robin", [:]), ("least_request_experimental", [:]),
    ("ring_hash_experimental", [:]), ("ring_hash_experimental", hashed),
    ("outlier_detection_experimental", ["childPolicy": .policies("ring_hash_experimental", hashed)]),
  ]

  /// `pick_first` has one subchannel, so that it is not among those above.
  private static let reporting =
    policies + [
      ("pick_first", [:]),
      (
        "priority_experimental",
        [
          "children": .object(["a": .object(["config": .policies("pick_first")])]),
          "priorities": .array([.string("a")]),
        ]
      ),
      (
        "weighted_target_experimental",
        ["targets": .object(["a": .object(["weight": .number(1), "childPolicy": .policies("pick_first")])])]
      ),
      ("outlier_detection_experimental", ["childPolicy": .policies("pick_first")]),
      ("random_subsetting_experimental", ["subsetSize": .number(1), "childPolicy": .policies("pick_first")]),
    ]

  private static let endpoints = [Endpoint.number(0, path: ["a"])]

  /// Starts one of `reporting`. Returns its subchannel, which is ready.
  private func startReady(_ policy: Int) throws -> FakeSubchannel {
    let (name, members) = Self.reporting[policy]
    try bench.update(name, members, Self.endpoints)
    bench.host.allReady()
    #expect(bench.pick(FakeCall([("key", "0")])).number == 0)
    return try bench.host[0]
  }

  @Test(arguments: reporting.indices, [ConnectivityState.idle, .transientFailure])
  func aPolicyMayEndWithinItsOwnReport(_ policy: Int, _ state: ConnectivityState) throws {
    let old = try startReady(policy)
    let name = Self.reporting[policy].0
    let new = name == "round_robin" ? "least_request_experimental" : "round_robin"
    try bench.update(new, [:], Self.endpoints)
    // The new policy is still connecting, and takes over as soon as the old one is no longer ready.
    old.set(state, state == .idle ? nil : .noServer)
    #expect(old.isShutDown)
    #expect(bench.host.open.count == 1)
    bench.host.allReady()
    #expect(bench.pick().number == 0)
  }

  @Test(arguments: reporting.indices, [ConnectivityState.idle, .transientFailure])
  func aPolicyMayEndWhileItAsksForEndpoints(_ policy: Int, _ state: ConnectivityState) throws {
    let old = try startReady(policy)
    bench.host.onResolveAgain = { [weak bench] in
      bench?.host.onResolveAgain = {}
      bench?.child.shutDown()
      try? bench?.update("least_request_experimental", [:], Self.endpoints)
    }
    old.set(state, state == .idle ? nil : .noServer)
    #expect(bench.host.resolutions > 0)
    #expect(old.isShutDown)
    #expect(bench.host.open.count == 1)
    bench.host.allReady()
    #expect(bench.pick().number == 0)
  }

  /// Policies with several children, of which each fails, and so asks for the name to be resolved again, as soon as it is
  /// updated.
  private static let parents: [(String, [String: ConfigValue])] = [
    (
      "priority_experimental",
      [
        "children": .object(
          Dictionary(uniqueKeysWithValues: names.map { ($0, .object(["config": .policies("short")])) })
        ),
        "priorities": .array(names.map { .string($0) }),
      ]
    ),
    (
      "weighted_target_experimental",
      [
        "targets": .object(
          Dictionary(
            uniqueKeysWithValues: names.map {
              ($0, .object(["weight": .number(1), "childPolicy": .policies("short")]))
            }
          )
        )
      ]
    ),
  ]
  private static let names = ["a", "b", "c"]

  @Test(arguments: parents.indices)
  func aPolicyMayEndWithinItsOwnUpdate(_ policy: Int) throws {
    let lives = Lives()
    bench.host.policies = PolicyRegistry([ShortLived(lives: lives)])
    bench.host.onResolveAgain = { [weak bench] in bench?.child.shutDown() }
    let (name, members) = Self.parents[policy]
    try? bench.update(name, members, Self.names.indices.map { .number($0, path: [Self.names[$0]]) })
    #expect(lives.begun == 1)
    #expect(lives.ended == 1)
    #expect(bench.host.clock.pending == 0)
  }

  @Test(arguments: policies.indices)
  func picksStayValidWhileSomeEndpointsShutDown(_ policy: Int) throws {
    let (name, members) = Self.policies[policy]
    try bench.update(name, members, .numbers(0..<10))
    bench.host.allReady()
    let picks = picksOnShutDown()
    try bench.update(name, members, .numbers(0..<3))
    #expect(picks.all.count == 700)
    #expect(picks.all.allSatisfy { $0.isWait || $0.number.map { $0 < 3 } ?? false })
  }

  @Test(arguments: policies.indices)
  func picksStayValidWhileAnotherPolicyTakesOver(_ policy: Int) throws {
    let (name, members) = Self.policies[policy]
    try bench.update(name, members, .numbers(0..<10))
    bench.host.allReady()
    let picks = picksOnShutDown()
    try bench.update("pick_first", [:], .numbers(0..<3))
    bench.host.subchannels.last?.set(.ready)
    #expect(picks.all.count == 1000)
    #expect(picks.all.allSatisfy { $0.number == 0 })
  }

  @Test(arguments: policies.indices)
  func picksStayValidWhileAllEndpointsShutDown(_ policy: Int) throws {
    let (name, members) = Self.policies[policy]
    try bench.update(name, members, .numbers(0..<10))
    bench.host.allReady()
    let picks = picksOnShutDown()
    bench.child.shutDown()
    #expect(picks.all.count == 1000)
    #expect(picks.all.allSatisfy { $0.failure == nil })
  }
}

/// How many balancers were made, and shut down.
private final class Lives: @unchecked Sendable {
  // Sendable because only the test's thread uses it.
  var begun = 0
  var ended = 0
}

/// A policy that fails as soon as it is updated.
private struct ShortLived: LoadBalancingPolicy {
  let lives: Lives
  var name: String { "short" }

  func readConfig(_ reader: ConfigReader, _ policies: PolicyRegistry) -> Int { 0 }

  func makeBalancer(_ host: any BalancerHost) -> Balancer { Balancer(host, lives) }

  final class Balancer: LoadBalancer {
    private let host: any BalancerHost
    private let lives: Lives

    init(_ host: any BalancerHost, _ lives: Lives) {
      self.host = host
      self.lives = lives
      lives.begun += 1
    }

    func update(_ endpoints: [Endpoint], _ config: Int) {
      host.update(.transientFailure, ConstantPicker(.fail(.noServer)))
      host.resolveAgain()
    }

    func resolverFailed(_ status: GRPCStatus) {}
    func leaveIdle() {}
    func shutDown() { lives.ended += 1 }
  }
}
