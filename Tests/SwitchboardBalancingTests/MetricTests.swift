import SwitchboardCall
import Testing

@testable import SwitchboardBalancing

/// What policies record (gRFCs A78 and A89).
@Suite
struct MetricTests {
  private let bench = Bench()
  private let recorder = FakeRecorder()

  private static let fallbacks = "grpc.lb.wrr.rr_fallback"
  private static let notYetUsable = "grpc.lb.wrr.endpoint_weight_not_yet_usable"
  private static let stale = "grpc.lb.wrr.endpoint_weight_stale"
  private static let weights = "grpc.lb.wrr.endpoint_weights"
  private static let outliers = "grpc.lb.outlier_detection."

  init() { bench.host.metrics = recorder.scope }

  private func report(_ weight: Double) -> LoadReport {
    var report = LoadReport()
    report.queriesPerSecond = weight
    report.applicationUtilization = 1
    return report
  }

  private func takeAll() -> [[Double]] {
    [Self.fallbacks, Self.notYetUsable, Self.stale, Self.weights].map(recorder.take)
  }

  @Test
  func weightsAreRecordedAtEachUpdate() throws {
    try bench.update("weighted_round_robin", ["blackoutPeriod": .string("5s")], .numbers(0..<3))
    // Without a server there is nothing to update.
    #expect(takeAll() == [[], [], [], []])
    bench.host.allReady()
    bench.host.clock.advance(by: .seconds(1))
    #expect(takeAll() == [[1], [3], [], [0, 0, 0]])
    // The blackout begins.
    for _ in 0..<2 {
      let pick = bench.pick()
      let weight = Double(try #require(pick.number) * 100 + 100)
      pick.tracker?.callEnded(CallOutcome(status: .ok, loadReport: report(weight)))
    }
    bench.host.clock.advance(by: .seconds(4))
    _ = takeAll()
    bench.host.clock.advance(by: .seconds(1))
    let (fallbacks, notYet, stale, weights) = (takeAll()).four
    #expect((fallbacks, notYet, stale) == ([], [1], []))
    #expect(weights.sorted()[0] == 0)
    #expect(weights.count { [100, 200, 300].contains($0) } == 2)
    bench.host.clock.advance(by: .seconds(174))
    _ = takeAll()
    bench.host.clock.advance(by: .seconds(1))
    #expect(takeAll() == [[1], [1], [2], [0, 0, 0]])
    // As long as nothing is reported.
    bench.host.clock.advance(by: .seconds(1))
    #expect(takeAll() == [[1], [1], [2], [0, 0, 0]])
    #expect(recorder.labels(Self.weights) == ["grpc.target": "dns:///a"])
  }

  @Test
  func aSingleServerNeedsNoWeights() throws {
    try bench.update("weighted_round_robin", ["blackoutPeriod": .string("0s")], .numbers(0..<1))
    bench.host.allReady()
    bench.pick().tracker?.callEnded(CallOutcome(status: .ok, loadReport: report(10)))
    _ = takeAll()
    bench.host.clock.advance(by: .seconds(1))
    #expect(takeAll() == [[1], [], [], [10]])
  }

  /// Four of ten endpoints fail, and three may be ejected, if the rule says that it happens at all.
  @Test
  func outliersAreCounted() throws {
    let rule: [String: ConfigValue] = ["threshold": .number(50)]
    func update(_ enforcement: Double, most: Double) throws {
      let config: [String: ConfigValue] = [
        "childPolicy": .policies("round_robin"), "maxEjectionPercent": .number(most),
        "failurePercentageEjection": .object(
          rule.merging(["enforcementPercentage": .number(enforcement)]) { $1 }
        ),
      ]
      var endpoints = [Endpoint].numbers(0..<10)
      endpoints[3].attributes[EndpointBackendService.self] = "carts"
      try bench.update("outlier_detection_experimental", config, endpoints)
    }
    func sweep() {
      _ = bench.counts(1000) { CallOutcome(status: $0 < 4 ? GRPCStatus(code: .unavailable) : .ok) }
      bench.host.clock.advance(by: .seconds(10))
    }
    let (ejected, kept) = (Self.outliers + "ejections_enforced", Self.outliers + "ejections_unenforced")
    var labels = [
      "grpc.target": "dns:///a", "grpc.lb.backend_service": "carts",
      Self.outliers + "detection_method": "failure_percentage",
    ]
    try update(0, most: 30)
    bench.host.allReady()
    sweep()
    #expect(recorder.take(ejected).isEmpty && recorder.take(kept) == [1, 1, 1, 1])
    labels[Self.outliers + "unenforced_reason"] = "enforcement_percentage"
    #expect(recorder.labels(kept) == labels)
    try update(100, most: 30)
    sweep()
    #expect(recorder.take(ejected) == [1, 1, 1] && recorder.take(kept) == [1])
    labels[Self.outliers + "unenforced_reason"] = "max_ejection_overflow"
    #expect(recorder.labels(kept) == labels)
    labels[Self.outliers + "unenforced_reason"] = nil
    #expect(recorder.labels(ejected) == labels)
  }

  /// Names, kinds, units and labels are those of gRFCs A78, A89 and A91, and all are off by default.
  @Test
  func declarationsMatchTheProposals() throws {
    try bench.update("weighted_round_robin", [:], .numbers(0..<1))
    try bench.update("pick_first", [:], .numbers(0..<1))
    _ = OutlierMeter(recorder.scope)
    let instruments = recorder.state.withLock { $0.instruments }
    let shown = instruments.values.sorted { $0.name < $1.name }.map { instrument in
      let isHistogram = if case .histogram = instrument.kind { true } else { false }
      let labels = (instrument.labels + instrument.optionalLabels.map { "\($0)?" }).joined(separator: " ")
      let kind = isHistogram ? "histogram" : instrument.kind == .counter ? "counter" : "other"
      return "\(instrument.name) \(kind) \(instrument.unit) \(labels)"
    }
    let optional = "grpc.lb.locality? grpc.lb.backend_service?"
    let method = Self.outliers + "detection_method"
    #expect(
      shown == [
        "grpc.lb.outlier_detection.ejections_enforced counter {ejection} grpc.target \(method) grpc.lb.backend_service?",
        "grpc.lb.outlier_detection.ejections_unenforced counter {ejection} grpc.target \(method) "
          + "\(Self.outliers)unenforced_reason grpc.lb.backend_service?",
        "grpc.lb.pick_first.connection_attempts_failed counter {attempt} grpc.target",
        "grpc.lb.pick_first.connection_attempts_succeeded counter {attempt} grpc.target",
        "grpc.lb.pick_first.disconnections counter {disconnection} grpc.target",
        "grpc.lb.wrr.endpoint_weight_not_yet_usable counter {endpoint} grpc.target \(optional)",
        "grpc.lb.wrr.endpoint_weight_stale counter {endpoint} grpc.target \(optional)",
        "grpc.lb.wrr.endpoint_weights histogram {weight} grpc.target \(optional)",
        "grpc.lb.wrr.rr_fallback counter {update} grpc.target \(optional)",
      ]
    )
    #expect(instruments.values.allSatisfy { !$0.isOnByDefault })
  }

  @Test
  func disabledMetricsAreNotRecorded() throws {
    let few = FakeRecorder(off: [Self.weights])
    bench.host.metrics = few.scope
    try bench.update("weighted_round_robin", [:], .numbers(0..<2))
    bench.host.allReady()
    bench.host.clock.advance(by: .seconds(1))
    #expect(few.take(Self.fallbacks) == [1])
    #expect(few.take(Self.weights).isEmpty)
    #expect(WeightMeter(FakeRecorder(off: ["*"]).scope) == nil)
    #expect(PickFirstMeter(FakeRecorder(off: ["*"]).scope) == nil)
    #expect(OutlierMeter(FakeRecorder(off: ["*"]).scope) == nil)
    #expect(WeightMeter(nil) == nil)
  }

  @Test
  func theLocalityIsTheNameOfTheChild() throws {
    let child = ConfigValue.object([
      "weight": .number(1), "childPolicy": .policies("weighted_round_robin"),
    ])
    var endpoint = Endpoint.number(1, path: ["eu-1"])
    endpoint.attributes[EndpointBackendService.self] = "carts"
    try bench.update("weighted_target_experimental", ["targets": .object(["eu-1": child])], [endpoint])
    bench.host.allReady()
    bench.host.clock.advance(by: .seconds(1))
    #expect(
      recorder.labels(Self.fallbacks) == [
        "grpc.target": "dns:///a", "grpc.lb.locality": "eu-1", "grpc.lb.backend_service": "carts",
      ]
    )
  }

  @Test
  func priorityAddsNoLocalityLabel() throws {
    let child = ConfigValue.object(["config": .policies("weighted_round_robin")])
    let config: [String: ConfigValue] = [
      "children": .object(["first": child]), "priorities": .array([.string("first")]),
    ]
    try bench.update("priority_experimental", config, [.number(1, path: ["first"])])
    bench.host.allReady()
    bench.host.clock.advance(by: .seconds(1))
    #expect(recorder.labels(Self.fallbacks) == ["grpc.target": "dns:///a"])
  }

  // MARK: pick_first

  private func connections() -> [Double] {
    ["connection_attempts_succeeded", "connection_attempts_failed", "disconnections"].map {
      recorder.take("grpc.lb.pick_first.\($0)").reduce(0, +)
    }
  }

  @Test
  func pickFirstCountsConnections() throws {
    try bench.update("pick_first", [:], .numbers(0..<2))
    let subchannel = try bench.host[0]
    subchannel.set(.connecting)
    subchannel.fail()
    #expect(connections() == [0, 1, 0])
    subchannel.set(.idle)
    subchannel.set(.connecting)
    subchannel.set(.ready)
    #expect(connections() == [1, 0, 0])
    subchannel.set(.idle)
    #expect(connections() == [0, 0, 1])
    // One that was of no use is no failed attempt.
    subchannel.set(.connecting)
    subchannel.set(.ready)
    subchannel.fail()
    #expect(connections() == [1, 0, 1])
    #expect(recorder.labels("grpc.lb.pick_first.disconnections") == ["grpc.target": "dns:///a"])
  }

  @Test
  func changedLabelsReplaceTheSubchannel() throws {
    func endpoint(_ number: Int, _ locality: String?) -> Endpoint {
      var endpoint = Endpoint.number(number)
      endpoint.attributes[EndpointLocality.self] = locality
      return endpoint
    }
    try bench.update("pick_first", [:], [endpoint(0, "a"), endpoint(1, "a")])
    let first = try bench.host[0]
    #expect(first.options.metricLabels == ["grpc.lb.locality": "a"])
    first.set(.ready)
    _ = connections()
    // They have no locality in common.
    try bench.update("pick_first", [:], [endpoint(0, "a"), endpoint(1, "b")])
    #expect(first.isShutDown)
    let second = try bench.host[0]
    #expect(second.options.metricLabels.isEmpty)
    second.set(.ready)
    #expect(bench.pick().number == 0)
    #expect(connections() == [1, 0, 0])

    try bench.update("round_robin", [:], [endpoint(0, "a"), endpoint(1, "b")])
    bench.host.allReady()
    #expect(second.isShutDown)
    let (kept, other) = (try bench.host[0], try bench.host[1])
    #expect(other.options.metricLabels == ["grpc.lb.locality": "b"])
    try bench.update("round_robin", [:], [endpoint(0, "a"), endpoint(1, "c"), endpoint(1, "d")])
    #expect(!kept.isShutDown && other.isShutDown)
    #expect(bench.host.open.count == 2)
    #expect(try bench.host[1].options.metricLabels == ["grpc.lb.locality": "c"])
    bench.host.allReady()
    #expect(bench.counts(10) == [0: 5, 1: 5])
  }
}

extension [[Double]] {
  fileprivate var four: ([Double], [Double], [Double], [Double]) { (self[0], self[1], self[2], self[3]) }
}
