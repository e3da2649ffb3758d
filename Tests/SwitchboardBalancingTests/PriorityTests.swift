import SwitchboardBalancing
import SwitchboardCall
import Testing

@Suite
struct PriorityTests {
  private let bench = Bench()

  /// Children `c0` and so on, with `round_robin`, in this order.
  private func config(_ order: [Int], ignores: Set<Int> = []) -> [String: ConfigValue] {
    let children = order.map { number in
      (
        "c\(number)",
        ConfigValue.object([
          "config": .policies("round_robin"), "ignoreReresolutionRequests": .bool(ignores.contains(number)),
        ])
      )
    }
    return [
      "children": .object(Dictionary(uniqueKeysWithValues: children)),
      "priorities": .array(order.map { .string("c\($0)") }),
    ]
  }

  /// Each child has an endpoint with its own number.
  private func endpoints(_ children: Range<Int>) -> [Endpoint] {
    children.map { .number($0, path: ["c\($0)"]) }
  }

  @Test
  func startsChildrenOnlyWhenTheyAreNeeded() throws {
    try bench.update("priority_experimental", config([0, 1]), endpoints(0..<2))
    #expect(bench.host.open.count == 1)
    try bench.host[0].set(.ready)
    #expect(bench.counts(10) == [0: 10])
    bench.host.clock.advance(by: .seconds(60))
    #expect(bench.host.open.count == 1)
  }

  @Test
  func failsOverAtOnceAfterAFailureAndOtherwiseAfterTenSeconds() throws {
    try bench.update("priority", config([0, 1, 2]), endpoints(0..<3))
    try bench.host[0].set(.connecting)
    bench.host.clock.advance(by: .seconds(9))
    #expect(bench.host.open.count == 1)
    bench.host.clock.advance(by: .seconds(1))
    #expect(bench.host.open.count == 2)
    #expect(bench.host.state == .connecting)
    try bench.host[1].set(.connecting)
    try bench.host[1].fail()
    #expect(bench.host.open.count == 3)
    try bench.host[2].set(.ready)
    #expect(bench.counts(10) == [2: 10])
    // A better one takes over as soon as it works.
    try bench.host[0].set(.ready)
    #expect(bench.counts(10) == [0: 10])
  }

  @Test
  func keepsLowerPrioritiesForAWhile() throws {
    try bench.update("priority", config([0, 1]), endpoints(0..<2))
    try bench.host[0].fail()
    try bench.host[1].set(.ready)
    let second = try bench.host[1]
    try bench.host[0].set(.ready)
    #expect(!second.isShutDown)
    bench.host.clock.advance(by: .seconds(14 * 60))
    try bench.host[0].fail()
    #expect(bench.counts(10) == [1: 10])
    bench.host.clock.advance(by: .seconds(20 * 60))
    #expect(!second.isShutDown)
    try bench.host[0].set(.ready)
    bench.host.clock.advance(by: .seconds(15 * 60))
    #expect(second.isShutDown)
    try bench.host[0].fail()
    #expect(try bench.host[1] !== second)
  }

  @Test
  func reportsFailureWhenAllFail() throws {
    try bench.update("priority", config([0, 1]), endpoints(0..<2))
    try bench.host[0].fail("first")
    try bench.host[1].fail("second")
    #expect(bench.host.state == .transientFailure)
    #expect(bench.pick().failure?.message == "second")
  }

  @Test
  func aChildThatWasReadyGetsTimeToReconnect() throws {
    try bench.update("priority", config([0, 1]), endpoints(0..<2))
    try bench.host[0].set(.ready)
    try bench.host[0].set(.idle)
    try bench.host[0].set(.connecting)
    #expect(bench.pick().isWait)
    #expect(bench.host.open.count == 1)
    bench.host.clock.advance(by: .seconds(10))
    #expect(bench.host.open.count == 2)
  }

  @Test
  func anotherOrderKeepsConnections() throws {
    try bench.update("priority", config([0, 1]), endpoints(0..<2))
    try bench.host[0].fail()
    try bench.host[1].set(.ready)
    let subchannel = try bench.host[1]
    try bench.update("priority", config([1, 0]), endpoints(0..<2))
    #expect(try bench.host[1] === subchannel)
    #expect(bench.counts(10) == [1: 10])
    // A child that is no longer there is gone at once.
    try bench.update("priority", config([1]), endpoints(1..<2))
    #expect(bench.host.open.count == 1)
  }

  @Test
  func childrenThatIgnoreReresolutionCauseNone() throws {
    try bench.update("priority", config([0, 1], ignores: [0]), endpoints(0..<2))
    try bench.host[0].fail()
    #expect(bench.host.resolutions == 0)
    try bench.host[1].fail()
    #expect(bench.host.resolutions == 1)
  }

  @Test
  func withoutChildrenCallsFail() throws {
    try bench.update("priority", [:], endpoints(0..<2))
    #expect(bench.pick().failure?.code == .unavailable)
    bench.child.shutDown()
    #expect(bench.host.open.isEmpty)
  }

  @Test
  func endsItsTimers() throws {
    try bench.update("priority", config([0, 1]), endpoints(0..<2))
    try bench.host[0].fail()
    try bench.host[1].set(.ready)
    try bench.host[0].set(.ready)
    bench.child.shutDown()
    #expect(bench.host.clock.pending == 0)
    #expect(bench.host.open.isEmpty)
  }

  @Test
  func rejectsBadConfigs() throws {
    var unknown = config([0])
    unknown["priorities"] = .array([.string("c0"), .string("c1")])
    var twice = config([0])
    twice["priorities"] = .array([.string("c0"), .string("c0")])
    let noPolicy: [String: ConfigValue] = ["children": .object(["c0": .object([:])])]
    let foreign: [String: ConfigValue] = ["children": .object(["c0": .object(["config": .policies("what")])])]
    for (config, location) in [
      (unknown, "priorities[1]"), (twice, "priorities[1]"), (noPolicy, "children.c0.config"),
      (foreign, "children.c0.config"), (config(Array(0...1000)), "children"),
    ] {
      let error = #expect(throws: GRPCStatus.self) { try bench.choice("priority", config) }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message?.contains("loadBalancingConfig[0].priority.\(location)") == true)
    }
  }
}
