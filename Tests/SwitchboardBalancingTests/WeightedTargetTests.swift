import SwitchboardBalancing
import SwitchboardCall
import Testing

@Suite
struct WeightedTargetTests {
  private let bench = Bench()

  private func config(_ weights: [String: Double], _ policy: String = "round_robin") -> [String: ConfigValue]
  {
    let targets = weights.mapValues {
      ConfigValue.object(["weight": .number($0), "childPolicy": .policies(policy)])
    }
    return ["targets": .object(targets)]
  }

  private let endpoints: [Endpoint] = [
    .number(0, path: ["a"]), .number(1, path: ["b"]), .number(2, path: ["b"]), .number(3, path: ["c"]),
    .number(4),
  ]

  @Test
  func dividesByWeights() throws {
    try bench.update("weighted_target_experimental", config(["a": 100, "b": 300, "c": 1]), endpoints)
    bench.host.allReady()
    #expect(bench.host.open.count == 4)
    let found = shares(bench.counts(200_000))
    for (number, weight) in [(0, 100.0), (1, 150), (2, 150), (3, 1)] {
      #expect(abs((found[number] ?? 0) - weight / 401) < 0.005)
    }
  }

  @Test
  func onlyChildrenThatAreReadyGetCalls() throws {
    try bench.update("weighted_target", config(["a": 1, "b": 1]), endpoints)
    #expect(bench.pick().isWait)
    try bench.host[0].set(.ready)
    #expect(bench.counts(100) == [0: 100])
    try bench.host[1].set(.ready)
    #expect(bench.counts(100).count == 2)
    try bench.host[0].fail("a")
    #expect(bench.counts(100) == [1: 100])
    try bench.host[1].fail("b")
    // The other endpoint of b may still connect.
    #expect(bench.pick().isWait)
    try bench.host[2].fail("b")
    #expect(bench.host.state == .transientFailure)
    let messages = Set((0..<100).compactMap { _ in bench.pick().failure?.message })
    #expect(messages == ["a", "b"])
  }

  /// The resolver has found some, and has not said for which child.
  @Test(arguments: ["weighted_target", "priority"])
  func endpointsWithoutAPathAreNotTakenForNone(_ policy: String) throws {
    let child = ConfigValue.object(["config": .policies("round_robin")])
    let members =
      policy == "priority"
      ? ["children": .object(["a": child]), "priorities": .array([.string("a")])] : config(["a": 1])
    let failure = #expect(throws: GRPCStatus.self) { try bench.update(policy, members, .numbers(0..<2)) }
    let reason =
      "the resolver's endpoints have no EndpointPath, which names the child that an endpoint is for"
    #expect(failure?.message == "child a: \(reason)")
    #expect(bench.host.state == .transientFailure)
    #expect(bench.pick().failure?.message == reason)
    #expect(throws: GRPCStatus.self) { try bench.update(policy, members, []) }
    #expect(bench.pick().failure?.message == "the name has no addresses")
    try bench.update(policy, members, [.number(0, path: ["a"])])
    bench.host.allReady()
    #expect(bench.counts(10) == [0: 10])
  }

  @Test
  func updatesKeepChildren() throws {
    try bench.update("weighted_target", config(["a": 1, "b": 1]), endpoints)
    bench.host.allReady()
    let subchannel = try bench.host[0]
    try bench.update("weighted_target", config(["a": 3, "c": 1]), endpoints)
    #expect(try bench.host[0] === subchannel)
    bench.host.allReady()
    #expect(bench.host.open.count == 2)
    #expect(abs((shares(bench.counts(50_000))[0] ?? 0) - 0.75) < 0.01)
  }

  @Test
  func childrenThatAreIdleConnectAgain() throws {
    try bench.update("weighted_target", config(["a": 1, "c": 1], "pick_first"), endpoints)
    bench.host.allReady()
    try bench.host[0].set(.idle)
    #expect(try bench.host[0].connects == 2)
    #expect(bench.counts(10) == [3: 10])
  }

  @Test
  func policiesNest() throws {
    let inner = ConfigValue.object(config(["x": 1, "y": 3]))
    let config: [String: ConfigValue] = [
      "targets": .object([
        "a": .object(["weight": .number(1), "childPolicy": .array([.object(["weighted_target": inner])])])
      ])
    ]
    try bench.update(
      "weighted_target",
      config,
      [.number(0, path: ["a", "x"]), .number(1, path: ["a", "y"])]
    )
    bench.host.allReady()
    #expect(abs((shares(bench.counts(50_000))[1] ?? 0) - 0.75) < 0.01)
  }

  @Test
  func aChildWithoutEndpointsIsReported() throws {
    let error = #expect(throws: GRPCStatus.self) {
      try bench.update("weighted_target", config(["a": 1, "z": 1]), endpoints)
    }
    #expect(error?.message?.contains("child z") == true)
    bench.host.allReady()
    #expect(bench.counts(10) == [0: 10])
  }

  @Test
  func rejectsBadConfigs() throws {
    let many = Dictionary(uniqueKeysWithValues: (0...1000).map { ("\($0)", 1.0) })
    for config in [
      [:], config(many), config(["a": 0]), config(["a": -1]), config(["a": 4_294_967_296]),
      config(["a": 1], "what"),
      ["targets": .object(["a": .object(["weight": .number(1)])])],
      ["targets": .object(["a": .object(["childPolicy": .policies("round_robin")])])],
    ] as [[String: ConfigValue]] {
      let error = #expect(throws: GRPCStatus.self) { try bench.choice("weighted_target", config) }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message?.contains("targets") == true)
    }
  }
}
