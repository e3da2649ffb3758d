import SwitchboardCall
import Testing

@testable import SwitchboardBalancing

@Suite
struct OutlierDetectionTests {
  private let bench = Bench()

  private func config(
    _ policy: String = "round_robin",
    _ more: [String: ConfigValue] = [:]
  ) -> [String: ConfigValue] {
    [
      "childPolicy": .policies(policy), "failurePercentageEjection": .object(["threshold": .number(50)]),
      "maxEjectionPercent": .number(50),
    ].merging(more) { $1 }
  }

  private func start(_ count: Int, _ config: [String: ConfigValue]) throws {
    try bench.update("outlier_detection_experimental", config, .numbers(0..<count))
    bench.host.allReady()
  }

  /// Calls to these endpoints fail.
  private func call(_ picks: Int, failing: Set<Int> = []) -> [Int: Int] {
    bench.counts(picks) {
      CallOutcome(status: failing.contains($0) ? GRPCStatus(code: .unavailable) : .ok)
    }
  }

  @Test
  func ejectsByFailurePercentageAndReadmits() throws {
    try start(5, config())
    #expect(call(500, failing: [2]).count == 5)
    bench.host.clock.advance(by: .seconds(10))
    #expect(call(500).keys.sorted() == [0, 1, 3, 4])
    // After the base time of 30 s; the sweep at 40 s is not after it, strictly.
    bench.host.clock.advance(by: .seconds(30))
    #expect(call(500).count == 4)
    bench.host.clock.advance(by: .seconds(10))
    #expect(call(500, failing: [2]).count == 5)
    // The second ejection is twice as long.
    bench.host.clock.advance(by: .seconds(10))
    bench.host.clock.advance(by: .seconds(60))
    #expect(call(100).count == 4)
    bench.host.clock.advance(by: .seconds(10))
    #expect(call(500).count == 5)
    #expect(try bench.host[2].connects == 1)
  }

  @Test
  func ejectsBySuccessRate() throws {
    var config = config("round_robin", ["successRateEjection": .object(["requestVolume": .number(50)])])
    config["failurePercentageEjection"] = nil
    try start(10, config)
    _ = call(1000, failing: [7])
    bench.host.clock.advance(by: .seconds(10))
    #expect(!call(1000).keys.contains(7))
    #expect(call(1000).count == 9)
  }

  @Test
  func requiresEnoughHostsAndCalls() throws {
    try start(4, config())
    _ = call(400, failing: [0])
    bench.host.clock.advance(by: .seconds(10))
    #expect(call(400).count == 4)
    try bench.update("outlier_detection", config(), .numbers(0..<5))
    bench.host.allReady()
    _ = call(245, failing: [0])
    bench.host.clock.advance(by: .seconds(10))
    #expect(call(100).count == 5)
  }

  @Test
  func ejectsNoMoreThanAllowedButAlwaysOne() throws {
    try start(10, config("round_robin", ["maxEjectionPercent": .number(30)]))
    _ = call(1000, failing: [1, 2, 3, 4, 5])
    bench.host.clock.advance(by: .seconds(10))
    #expect(call(1000).count == 7)
    let other = Bench()
    try other.update(
      "outlier_detection",
      config("round_robin", ["maxEjectionPercent": .number(0)]),
      .numbers(0..<10)
    )
    other.host.allReady()
    _ = other.counts(1000) { CallOutcome(status: $0 < 3 ? GRPCStatus(code: .internalError) : .ok) }
    other.host.clock.advance(by: .seconds(10))
    #expect(other.counts(100).count == 9)
  }

  @Test
  func zeroEnforcementNeverEjects() throws {
    let rule = ConfigValue.object(["threshold": .number(50), "enforcementPercentage": .number(0)])
    try start(5, config("round_robin", ["failurePercentageEjection": rule]))
    _ = call(500, failing: [1])
    bench.host.clock.advance(by: .seconds(10))
    #expect(call(100).count == 5)
  }

  @Test
  func withoutRulesNothingIsCounted() throws {
    try start(5, config())
    _ = call(500, failing: [1])
    bench.host.clock.advance(by: .seconds(10))
    #expect(call(100).count == 4)
    try bench.update("outlier_detection", ["childPolicy": .policies("round_robin")], .numbers(0..<5))
    #expect(call(100).count == 5)
    #expect(bench.pick().tracker == nil)
    #expect(bench.host.clock.pending == 0)
  }

  @Test
  func anEjectedEndpointThatLosesItsConnectionConnectsAfterwards() throws {
    try start(5, config())
    _ = call(500, failing: [1])
    bench.host.clock.advance(by: .seconds(10))
    try bench.host[1].set(.idle)
    #expect(call(100).count == 4)
    bench.host.clock.advance(by: .seconds(40))
    #expect(try bench.host[1].connects == 2)
    try bench.host[1].set(.ready)
    #expect(call(100).count == 5)
  }

  @Test
  func trackersOfTheChildAreNotifiedToo() throws {
    try start(5, config("least_request"))
    let trackers = (0..<50).compactMap { _ in bench.pick().tracker }
    #expect(Set(trackers.map(ObjectIdentifier.init)).count == 5)
    for tracker in trackers { tracker.callEnded(CallOutcome(status: nil)) }
    _ = call(2000, failing: [3])
    bench.host.clock.advance(by: .seconds(10))
    #expect(call(2000).count == 4)
    try start(5, config("weighted_round_robin"))
    #expect(bench.pick().tracker?.wantsLoadReport == true)
  }

  @Test
  func callsMayEndAfterShutdown() throws {
    try start(5, config("least_request"))
    let tracker = bench.pick().tracker
    bench.child.shutDown()
    tracker?.callEnded(CallOutcome(status: .ok))
    #expect(bench.host.clock.pending == 0)
    #expect(bench.host.open.isEmpty)
  }

  @Test
  func pickFirstIsNeverEjected() throws {
    let rule = ConfigValue.object([
      "threshold": .number(1), "minimumHosts": .number(1), "requestVolume": .number(1),
    ])
    try start(1, config("pick_first", ["failurePercentageEjection": rule]))
    _ = call(100, failing: [0])
    bench.host.clock.advance(by: .seconds(10))
    #expect(call(100) == [0: 100])
  }

  @Test
  func aNewChildStartsWithTheEjectionsOfTheOld() throws {
    try start(5, config())
    _ = call(500, failing: [1])
    bench.host.clock.advance(by: .seconds(10))
    try bench.update("outlier_detection", config("least_request"), .numbers(0..<5))
    bench.host.allReady()
    bench.host.clock.advance()
    #expect(call(500).keys.sorted() == [0, 2, 3, 4])
    bench.host.clock.advance(by: .seconds(40))
    #expect(call(500).count == 5)
  }

  @Test
  func handlesEndpointsThatComeAndGo() throws {
    try start(5, config())
    _ = call(500, failing: [1])
    bench.host.clock.advance(by: .seconds(10))
    try bench.update("outlier_detection", config(), .numbers(2..<7))
    bench.host.allReady()
    #expect(call(500).count == 5)
    try bench.update("outlier_detection", config(), .numbers(0..<5))
    bench.host.allReady()
    #expect(call(500).count == 5)
  }

  @Test
  func rejectsBadConfigs() throws {
    for (member, value): (String, ConfigValue) in [
      ("interval", .string("-1s")), ("interval", .number(1)), ("maxEjectionPercent", .number(101)),
      ("successRateEjection", .object(["enforcementPercentage": .number(101)])),
      ("successRateEjection", .object(["stdevFactor": .number(-1)])),
      ("failurePercentageEjection", .object(["threshold": .number(101)])),
      ("failurePercentageEjection", .object(["requestVolume": .number(1e20)])), ("childPolicy", .null),
    ] {
      let error = #expect(throws: GRPCStatus.self) {
        try bench.choice("outlier_detection", config("round_robin", [member: value]))
      }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message?.contains("loadBalancingConfig[0].outlier_detection.\(member)") == true)
    }
  }

  @Test
  func hasTheSpecifiedDefaults() throws {
    let reader = ConfigReader(
      [
        "childPolicy": .policies("round_robin"), "baseEjectionTime": .string("400s"),
        "interval": .string("0s"),
      ],
      at: ""
    )
    let rules = try OutlierDetection().readConfig(reader, PolicyRegistry()).rules
    #expect(rules.maxEjectionTime == .seconds(400))
    #expect(rules.maxEjectionPercent == 10)
    #expect(rules.interval == .milliseconds(10))
    #expect(!rules.isActive)
  }
}
