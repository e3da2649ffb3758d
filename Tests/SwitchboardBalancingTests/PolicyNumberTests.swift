import CallTestSupport
import SwitchboardBalancing
import SwitchboardCall
import Testing

/// Each number in the configuration of a policy is tried at -1, 0, 1 and its maximum. Either it is refused with an error
/// that has its path, or calls get a server.
@Suite struct PolicyNumberTests {
  /// A configuration of each policy in which all its numbers are used.
  private static let configs: [String: [String: ConfigValue]] = [
    "pick_first": [:], "round_robin": [:],
    "least_request_experimental": [:], "ring_hash_experimental": [:], "weighted_round_robin": [:],
    "random_subsetting": ["subsetSize": .number(2), "childPolicy": .policies("round_robin")],
    "priority_experimental": [
      "children": .object(["a": .object(["config": .policies("round_robin")])]),
      "priorities": .array([.string("a")]),
    ],
    "weighted_target_experimental": [
      "targets": .object(["a": .object(["weight": .number(2), "childPolicy": .policies("round_robin")])])
    ],
    "outlier_detection_experimental": [
      "childPolicy": .policies("round_robin"), "successRateEjection": .object([:]),
      "failurePercentageEjection": .object([:]),
    ],
  ]

  /// The path of a number in JSON, by its path in what was read.
  private static let members: [String: [String: [String]]] = [
    "least_request_experimental": ["choiceCount": ["choiceCount"]],
    "ring_hash_experimental": ["minRingSize": ["minRingSize"], "maxRingSize": ["maxRingSize"]],
    "weighted_round_robin": [
      "oobReportingPeriod": ["oobReportingPeriod"], "blackoutPeriod": ["blackoutPeriod"],
      "weightExpirationPeriod": ["weightExpirationPeriod"], "weightUpdatePeriod": ["weightUpdatePeriod"],
      "errorUtilizationPenalty": ["errorUtilizationPenalty"],
    ],
    "random_subsetting": ["subsetSize": ["subsetSize"]],
    "weighted_target_experimental": ["targets.weight": ["targets", "a", "weight"]],
    "outlier_detection_experimental": [
      "rules.interval": ["interval"], "rules.baseEjectionTime": ["baseEjectionTime"],
      "rules.maxEjectionTime": ["maxEjectionTime"], "rules.maxEjectionPercent": ["maxEjectionPercent"],
      "rules.successRate.limit": ["successRateEjection", "stdevFactor"],
      "rules.successRate.enforcement": ["successRateEjection", "enforcementPercentage"],
      "rules.successRate.minimumHosts": ["successRateEjection", "minimumHosts"],
      "rules.successRate.requestVolume": ["successRateEjection", "requestVolume"],
      "rules.failurePercentage.limit": ["failurePercentageEjection", "threshold"],
      "rules.failurePercentage.enforcement": ["failurePercentageEjection", "enforcementPercentage"],
      "rules.failurePercentage.minimumHosts": ["failurePercentageEjection", "minimumHosts"],
      "rules.failurePercentage.requestVolume": ["failurePercentageEjection", "requestVolume"],
    ],
  ]

  private static let numbers: [ConfigValue] = [-1, 0, 1, 2000, 4_294_967_295, 1e18, 1e300, 0.5].map {
    .number($0)
  }
  private static let durations: [ConfigValue] = ["-1s", "0s", "1s", "315576000000s"].map { .string($0) }

  private func choose(_ policy: String, _ members: [String: ConfigValue]) throws(GRPCStatus) -> PolicyChoice {
    try PolicyRegistry().choose([LoadBalancingConfig(policy, members)], at: "loadBalancingConfig")
  }

  /// The config that was read.
  private func config(of choice: PolicyChoice) throws -> Any {
    try #require(Mirror(reflecting: choice).children.first { $0.label == "config" }).value
  }

  /// The paths of the numbers in a config, apart from those of child policies.
  private func numbers(in config: Any) -> Set<String> {
    var found = OptionWalk.numbers(in: config)
    for child in Mirror(reflecting: config).children {
      let isNumber = child.label.map(found.contains) ?? false
      if isNumber || child.value is PolicyChoice { continue }
      for number in numbers(in: child.value) {
        // An element, or the value of an optional, has no name of its own.
        let name = child.label.flatMap { $0 == "some" ? nil : $0 }
        found.insert(name.map { "\($0).\(number)" } ?? number)
      }
    }
    return found
  }

  private func setting(_ path: ArraySlice<String>, to value: ConfigValue, in members: [String: ConfigValue])
    -> [String: ConfigValue]
  {
    guard let name = path.first else { return members }
    var members = members
    if path.count == 1 {
      members[name] = value
    } else if case .object(let inner)? = members[name] {
      members[name] = .object(setting(path.dropFirst(), to: value, in: inner))
    }
    return members
  }

  /// A new policy, or a new number of a known one, fails here.
  @Test func everyNumberIsTried() throws {
    let registry = Mirror(reflecting: PolicyRegistry()).children.first { $0.label == "byName" }?.value
    let policies = try #require(registry as? [String: any LoadBalancingPolicy])
    #expect(Set(policies.keys) == Set(Self.configs.keys))
    for (policy, members) in Self.configs {
      let found = numbers(in: try config(of: choose(policy, members)))
      #expect(found == Set(Self.members[policy, default: [:]].keys))
    }
  }

  @Test(arguments: configs.keys.sorted()) func aNumberIsRefusedOrWorks(_ policy: String) throws {
    let standard = try #require(Self.configs[policy])
    let known = try choose(policy, standard)
    for path in Self.members[policy, default: [:]].values {
      var hasEffect = false
      var isRefused = false
      for value in Self.numbers + Self.durations {
        let changed = setting(path[...], to: value, in: standard)
        do throws(GRPCStatus) {
          let choice = try choose(policy, changed)
          hasEffect = hasEffect || choice != known
          expectWork(choice)
        } catch {
          isRefused = true
          #expect(error.code == .invalidArgument)
          let place = "loadBalancingConfig[0].\(policy).\(path.joined(separator: ".")): "
          #expect(error.message?.contains(place) == true)
        }
      }
      #expect(hasEffect && isRefused, "\(path)")
    }
  }

  private func expectWork(_ choice: PolicyChoice) {
    let host = FakeHost()
    defer { host.end() }
    host.connectsAtOnce()
    let child = ChildBalancer(host)
    #expect(throws: Never.self) {
      try child.update((0..<6).map { .number($0, path: ["a"]) }, choice)
    }
    // A policy may connect only after a first pick.
    for _ in 0..<3 {
      _ = host.picker.pick(FakeCall())
      host.clock.advance()
    }
    host.allReady()
    for _ in 0..<10 {
      let pick = host.picker.pick(FakeCall())
      #expect(pick.number != nil)
      pick.tracker?.callEnded(CallOutcome(status: .ok))
      host.clock.advance(by: .milliseconds(100))
    }
    child.shutDown()
    #expect(host.clock.pending == 0)
  }

  @Test func numbersOfThePace() throws {
    #expect(OptionWalk.ruled(ResolutionPace.self) == OptionWalk.numbers(in: ResolutionPace()))
    for sample in OptionWalk.samples(of: ResolutionPace()) {
      var options = BalancingOptions()
      options.pace = sample.options
      let resolver = FakeResolver()
      let owner = FakeOwner()
      do throws(GRPCStatus) {
        let balancer = try ChannelBalancer(
          try Target("fake:///a", schemes: ["fake"], fallback: "fake"),
          resolver,
          options,
          serviceConfig: nil,
          eventLoop: owner.loop,
          time: owner.time
        )
        balancer.leaveIdle()
        #expect(resolver.starts.count == 1)
        balancer.shutDown()
      } catch { #expect(sample.isRefused(by: error)) }
    }
  }
}
