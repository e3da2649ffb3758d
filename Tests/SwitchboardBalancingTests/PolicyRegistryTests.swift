import SwitchboardCall
import Testing

@testable import SwitchboardBalancing

@Suite
struct PolicyRegistryTests {
  private let policies = PolicyRegistry()

  private func choose(_ names: String..., members: [String: ConfigValue] = [:]) throws -> PolicyChoice {
    try policies.choose(names.map { LoadBalancingConfig($0, members) }, at: "loadBalancingConfig")
  }

  @Test
  func skipsUnknownPolicies() throws {
    #expect(try choose("future", "round_robin", "pick_first").name == "round_robin")
    for names in [["future"], []] {
      let configs = names.map { LoadBalancingConfig($0) }
      let error = #expect(throws: GRPCStatus.self) { try policies.choose(configs, at: "loadBalancingConfig") }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message?.contains("loadBalancingConfig") == true)
    }
  }

  @Test
  func anUnknownPolicyIsNamedWithItsPath() throws {
    let known = policies.names.joined(separator: ", ")
    func failure(_ configs: [LoadBalancingConfig]) throws -> String? {
      #expect(throws: GRPCStatus.self) { try policies.choose(configs, at: "loadBalancingConfig") }?.message
    }
    #expect(
      try failure([LoadBalancingConfig("round_robbin")])
        == "service config: loadBalancingConfig[0].round_robbin: no load balancing policy has this name; known: \(known) "
        + "(did you mean round_robin?)"
    )
    #expect(
      try failure([LoadBalancingConfig("grpclb"), LoadBalancingConfig("future")])
        == "service config: loadBalancingConfig[0].grpclb: no load balancing policy has this name, and none has one of "
        + "the others: future; known: \(known)"
    )
    let older = try ServiceConfig(json: #"{"loadBalancingPolicy": "round-robin"}"#)
    #expect(
      try failure(older.loadBalancing)?.hasPrefix(
        "service config: loadBalancingPolicy: no load balancing policy"
      )
        == true
    )
  }

  @Test
  func theConfigOfAnUnknownPolicyIsNotRead() throws {
    let bad = LoadBalancingConfig("pick_first", ["shuffleAddressList": .number(1)])
    let error = #expect(throws: GRPCStatus.self) { try policies.choose([bad], at: "loadBalancingConfig") }
    #expect(error?.message?.contains("loadBalancingConfig[0].pick_first.shuffleAddressList") == true)
    _ = try policies.choose([LoadBalancingConfig("round_robin"), bad], at: "loadBalancingConfig")
  }

  @Test
  func namesWithAndWithoutSuffixAreTheSame() throws {
    for name in ["least_request", "ring_hash"] {
      #expect(try choose(name) == choose(name + "_experimental"))
    }
  }

  @Test
  func deepNestingIsRefused() throws {
    func nested(_ depth: Int) -> LoadBalancingConfig {
      var value = ConfigValue.policies("round_robin")
      for _ in 1..<depth {
        value = .policies("random_subsetting", ["subsetSize": .number(1), "childPolicy": value])
      }
      return LoadBalancingConfig("random_subsetting", ["subsetSize": .number(1), "childPolicy": value])
    }
    _ = try policies.choose([nested(15)], at: "loadBalancingConfig")
    let error = #expect(throws: GRPCStatus.self) {
      try policies.choose([nested(16)], at: "loadBalancingConfig")
    }
    #expect(error?.message?.contains("nested deeper") == true)
  }

  @Test
  func ownPoliciesReplaceKnownOnes() throws {
    struct Own: LoadBalancingPolicy {
      let name = "least_request"
      func readConfig(_: ConfigReader, _: PolicyRegistry) throws(GRPCStatus) -> RoundRobinBalancer.Config {
        RoundRobinBalancer.Config()
      }
      func makeBalancer(_ host: any BalancerHost) -> RoundRobinBalancer { RoundRobinBalancer(host) }
    }
    let choice = try PolicyRegistry([Own()]).choose([LoadBalancingConfig("least_request")], at: "")
    #expect(choice.name == "least_request")
    #expect(choice == PolicyChoice(Own(), RoundRobinBalancer.Config()))
  }

  private static let names = [
    "pick_first", "round_robin", "weighted_round_robin", "least_request", "ring_hash", "priority",
    "weighted_target",
    "outlier_detection", "random_subsetting",
  ]
  private static let members = [
    "shuffleAddressList", "enableOobLoadReport", "oobReportingPeriod", "blackoutPeriod",
    "weightExpirationPeriod",
    "weightUpdatePeriod", "errorUtilizationPenalty", "choiceCount", "minRingSize", "maxRingSize",
    "requestHashHeader", "children", "priorities", "config", "ignoreReresolutionRequests", "targets",
    "weight",
    "childPolicy", "interval", "baseEjectionTime", "maxEjectionTime", "maxEjectionPercent",
    "successRateEjection",
    "stdevFactor", "enforcementPercentage", "minimumHosts", "requestVolume", "failurePercentageEjection",
    "threshold", "subsetSize", "a", "b",
  ]
  private static let numbers = [
    0, 1, -1, 2, 5, 50, 100, 101, 0.5, 1e9, 4_294_967_295, 4_294_967_296, 1e18, 1e19, 1e300, -1e300, .nan,
    .infinity,
    -.infinity, .leastNonzeroMagnitude,
  ]
  private static let texts = [
    "", "1s", "0s", "-1s", "315576000000s", "0.000000001s", "a", "b", "key", "1e400", "5",
  ]

  private func value(_ random: inout QuickRandom, _ depth: Int) -> ConfigValue {
    switch random.next(below: depth > 0 ? 9 : 5) {
    case 0: return .null
    case 1: return .bool(random.next(below: 2) == 0)
    case 2: return .number(Self.numbers[random.next(below: Self.numbers.count)])
    case 3, 4: return .string(Self.texts[random.next(below: Self.texts.count)])
    case 5: return .array((0..<random.next(below: 3)).map { _ in value(&random, depth - 1) })
    case 6: return .policies(Self.names[random.next(below: Self.names.count)], members(&random, depth - 1))
    default: return .object(members(&random, depth - 1))
    }
  }

  private func members(_ random: inout QuickRandom, _ depth: Int) -> [String: ConfigValue] {
    var members: [String: ConfigValue] = [:]
    for _ in 0..<random.next(below: 6) {
      let name = Self.members[random.next(below: Self.members.count)]
      members[name] =
        name == "childPolicy" || name == "config"
        ? .policies(
          Self.names[random.next(below: Self.names.count)],
          self.members(&random, max(0, depth - 1))
        )
        : value(&random, depth)
    }
    return members
  }

  /// Any JSON is either rejected with a reason, or can be worked with.
  @Test(arguments: UInt64(0)..<20)
  func anyConfigIsRejectedOrWorks(_ seed: UInt64) throws {
    var random = QuickRandom(seed: seed)
    var worked = 0
    for _ in 0..<1500 {
      let name = Self.names[random.next(below: Self.names.count)]
      let members = members(&random, 4)
      do {
        let choice = try choose(name, members: members)
        worked += 1
        try? run(choice, &random)
      } catch let error as GRPCStatus {
        #expect(error.code == .invalidArgument)
        #expect(error.message?.contains("loadBalancingConfig[0].") == true)
      }
    }
    #expect(worked > 100)
  }

  private func run(_ choice: PolicyChoice, _ random: inout QuickRandom) throws {
    let host = FakeHost()
    defer { host.end() }
    host.hasWaitingCall = random.next(below: 2) == 0
    if random.next(below: 3) == 0 { host.connectsAtOnce() }
    let child = ChildBalancer(host)
    let paths: [[String]?] = [nil, ["a"], ["b"], ["a", "b"]]
    try? child.update((0..<6).map { .number($0, path: paths[$0 % 4], weight: .max) }, choice)
    for step in 0..<30 {
      for subchannel in host.open where random.next(below: 3) == 0 {
        subchannel.set([.ready, .ready, .idle, .connecting, .transientFailure][random.next(below: 5)])
      }
      let pick = host.picker.pick(FakeCall([("key", "\(step)")]))
      pick.tracker?.callEnded(CallOutcome(status: step % 3 == 0 ? GRPCStatus(code: .unknown) : .ok))
      host.clock.advance(by: .milliseconds(random.next(below: 20)))
      guard random.next(below: 10) == 0 else { continue }
      let first = random.next(below: 6)
      try? child.update((first..<first + 4).map { .number($0, path: paths[$0 % 4]) }, choice)
    }
    child.shutDown()
    #expect(host.open.isEmpty)
    #expect(host.clock.pending == 0)
  }
}

extension FakeCall {
  convenience init(_ fields: [(String, String)]) { self.init(HPACKHeaders(fields)) }
}
