import SwitchboardBalancing
import SwitchboardCall
import Testing

@Suite
struct ChildBalancerTests {
  private let bench = Bench()

  @Test
  func theOldPolicyServesUntilTheNewOneIsReady() throws {
    try bench.update("round_robin", [:], .numbers(0..<2))
    bench.host.allReady()
    let old = bench.host.open
    try bench.update("pick_first", [:], .numbers(0..<2))
    #expect(bench.counts(10).count == 2)
    let new = try #require(bench.host.open.last)
    new.set(.connecting)
    #expect(bench.counts(10).count == 2)
    new.set(.ready)
    #expect(old.allSatisfy { $0.isShutDown })
    #expect(bench.counts(10) == [0: 10])
  }

  @Test
  func aNewPolicyThatFailsReplacesOneThatWorks() throws {
    try bench.update("round_robin", [:], .numbers(0..<2))
    bench.host.allReady()
    try bench.update("pick_first", [:], .numbers(5..<6))
    try #require(bench.host.open.last).fail("nobody")
    #expect(bench.pick().failure?.message == "nobody")
  }

  @Test
  func aNewPolicyReplacesAFailingOneAtOnce() throws {
    try bench.update("round_robin", [:], .numbers(0..<2))
    try bench.update("pick_first", [:], .numbers(0..<2))
    let new = try #require(bench.host.open.last)
    new.set(.connecting)
    #expect(bench.host.open.count == 1)
    try bench.update("least_request", [:], .numbers(0..<2))
    #expect(bench.host.open.count == 2)
    bench.host.allReady()
    #expect(bench.counts(100).count == 2)
  }

  @Test
  func aWaitingPolicyReplacesOneThatFails() throws {
    try bench.update("round_robin", [:], .numbers(0..<2))
    bench.host.allReady()
    let old = bench.host.open
    try bench.update("pick_first", [:], .numbers(5..<6))
    let new = try #require(bench.host.open.last)
    new.set(.connecting)
    #expect(bench.host.state == .ready)
    for subchannel in old { subchannel.fail() }
    #expect(bench.host.state == .connecting)
    #expect(bench.pick().isWait)
    #expect(old.allSatisfy { $0.isShutDown })
    new.set(.ready)
    #expect(bench.pick().number == 5)
  }

  @Test
  func aNewPolicyReplacesAFailedOneBeforeItReports() throws {
    try bench.update("round_robin", [:], .numbers(0..<1))
    try bench.host[0].fail()
    #expect(bench.host.state == .transientFailure)
    try bench.update("pick_first", [:], .numbers(1..<2))
    #expect(bench.host.state == .connecting)
    #expect(bench.pick().isWait)
    #expect(bench.host.open.count == 1)
  }

  @Test
  func aThirdPolicyReplacesTheWaitingSecond() throws {
    try bench.update("round_robin", [:], .numbers(0..<1))
    bench.host.allReady()
    try bench.update("pick_first", [:], .numbers(1..<2))
    let second = try #require(bench.host.open.last)
    try bench.update("least_request", [:], .numbers(2..<3))
    #expect(second.isShutDown)
    second.set(.ready)
    #expect(bench.pick().number == 0)
    try bench.host[2].set(.ready)
    #expect(bench.pick().number == 2)
    #expect(bench.host.open.count == 1)
  }

  @Test
  func nothingIsReportedAfterShutdown() throws {
    try bench.update("round_robin", [:], .numbers(0..<1))
    let subchannel = try bench.host[0]
    bench.child.shutDown()
    let states = bench.host.states
    subchannel.set(.ready)
    #expect(bench.host.states == states)
  }

  @Test
  func policiesNest() throws {
    let wrr: ConfigValue = .policies("weighted_round_robin", ["blackoutPeriod": .string("0s")])
    let outlier: ConfigValue = .policies(
      "outlier_detection",
      ["childPolicy": wrr, "failurePercentageEjection": .object([:])]
    )
    let children: ConfigValue = .object([
      "near": .object(["config": outlier]), "far": .object(["config": .policies("round_robin")]),
    ])
    let config: [String: ConfigValue] = [
      "subsetSize": .number(20),
      "childPolicy": .policies(
        "priority",
        ["children": children, "priorities": .array([.string("near"), .string("far")])]
      ),
    ]
    let endpoints = (0..<10).map { Endpoint.number($0, path: [$0 < 6 ? "near" : "far"]) }
    try bench.update("random_subsetting", config, endpoints)
    bench.host.allReady()
    #expect(bench.host.open.count == 6)
    var report = LoadReport()
    report.queriesPerSecond = 10
    let counts = bench.counts(600) { number in
      report.cpuUtilization = number == 1 ? 0.2 : 0.1
      return CallOutcome(status: number == 2 ? GRPCStatus(code: .unavailable) : .ok, loadReport: report)
    }
    #expect(counts.values.allSatisfy { $0 == 100 })
    bench.host.clock.advance(by: .seconds(10))
    // One is ejected, and another gets half of what the rest get.
    let found = shares(bench.counts(9000))
    #expect(found[2] == nil)
    #expect(abs((found[1] ?? 0) - 1.0 / 9) < 0.01)
    for number in 0..<6 { try bench.host[number].fail() }
    #expect(bench.host.open.count == 10)
    bench.host.allReady()
    bench.child.shutDown()
    #expect(bench.host.open.isEmpty)
    #expect(bench.host.clock.pending == 0)
  }
}
