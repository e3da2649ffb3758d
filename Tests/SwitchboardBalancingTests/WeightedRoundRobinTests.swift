import SwitchboardCall
import Testing

@testable import SwitchboardBalancing

@Suite
struct WeightedRoundRobinTests {
  private let bench = Bench()
  /// Weights are used at once.
  private let eager: [String: ConfigValue] = ["blackoutPeriod": .string("0s")]

  /// A report by which the weight is `weight`.
  private func report(_ weight: Double) -> LoadReport {
    var report = LoadReport()
    report.queriesPerSecond = weight
    report.applicationUtilization = 1
    return report
  }

  private func start(_ count: Int, _ config: [String: ConfigValue]) throws {
    try bench.update("weighted_round_robin", config, .numbers(0..<count))
    bench.host.allReady()
  }

  private func ends(_ weights: [Double]) -> (Int) -> CallOutcome {
    { CallOutcome(status: .ok, loadReport: self.report(weights[$0])) }
  }

  @Test
  func followsTheReportsOfCalls() throws {
    try start(4, eager)
    let weights = [100.0, 200, 300, 400]
    #expect(bench.counts(400, end: ends(weights)).values.allSatisfy { $0 == 100 })
    bench.host.clock.advance(by: .seconds(1))
    for (number, share) in shares(bench.counts(100_000)) {
      #expect(abs(share - weights[number] / 1000) < 0.001)
    }
  }

  @Test
  func staysEvenDuringTheBlackoutPeriod() throws {
    try start(2, [:])
    let weights = [100.0, 300]
    for _ in 0..<9 {
      let counts = bench.counts(100, end: ends(weights))
      #expect(counts == [0: 50, 1: 50])
      bench.host.clock.advance(by: .seconds(1))
    }
    bench.host.clock.advance(by: .seconds(2))
    #expect(abs((shares(bench.counts(10_000))[1] ?? 0) - 0.75) < 0.01)
  }

  @Test
  func oldReportsAreForgotten() throws {
    try start(2, eager)
    _ = bench.counts(10, end: ends([100, 300]))
    bench.host.clock.advance(by: .seconds(179))
    #expect(abs((shares(bench.counts(10_000))[1] ?? 0) - 0.75) < 0.01)
    bench.host.clock.advance(by: .seconds(2))
    #expect(bench.counts(100) == [0: 50, 1: 50])
  }

  @Test
  func errorsLowerTheWeight() throws {
    var config = eager
    config["errorUtilizationPenalty"] = .number(2)
    try start(2, config)
    var faulty = report(100)
    faulty.applicationUtilization = 0
    faulty.cpuUtilization = 0.5
    faulty.errorsPerSecond = 25
    var sound = report(100)
    sound.applicationUtilization = 0.5
    _ = bench.counts(10) { CallOutcome(status: .ok, loadReport: $0 == 0 ? faulty : sound) }
    bench.host.clock.advance(by: .seconds(1))
    // 100 / (0.5 + 0.25 * 2) beside 100 / 0.5.
    #expect(abs((shares(bench.counts(30_000))[0] ?? 0) - 1.0 / 3) < 0.005)
  }

  @Test
  func unknownWeightsDefaultToTheMean() throws {
    try start(3, eager)
    _ = bench.counts(30) { CallOutcome(status: .ok, loadReport: $0 == 2 ? nil : report($0 == 0 ? 100 : 300)) }
    bench.host.clock.advance(by: .seconds(1))
    let found = shares(bench.counts(60_000))
    #expect(abs((found[0] ?? 0) - 1.0 / 6) < 0.005)
    #expect(abs((found[2] ?? 0) - 1.0 / 3) < 0.005)
  }

  @Test
  func oneKnownWeightHasNoEffect() throws {
    try start(3, eager)
    _ = bench.counts(30) { CallOutcome(status: .ok, loadReport: $0 == 0 ? report(1000) : nil) }
    bench.host.clock.advance(by: .seconds(1))
    #expect(bench.counts(300) == [0: 100, 1: 100, 2: 100])
  }

  /// Nobody would see a difference from `round_robin`.
  @Test(arguments: [
    (false, false, "no server reported its load with its calls: servers set ServerOptions.loadRecorder"),
    (false, true, "no report of load had queries per second and a utilization above zero"),
    (true, false, "no server reported its load on a stream: servers need a LoadReportService"),
    (true, true, "no report of load had queries per second and a utilization above zero"),
  ])
  func withoutWeightsItSaysWhatServersLack(_ usesStreams: Bool, _ reports: Bool, _ reason: String) throws {
    try start(2, usesStreams ? ["enableOobLoadReport": .bool(true)] : [:])
    let idle = reports ? report(0) : nil
    func pass(_ duration: Duration, calls: Int) throws {
      _ = bench.counts(calls) { _ in CallOutcome(status: .ok, loadReport: usesStreams ? nil : idle) }
      if usesStreams, let idle { try bench.host[0].report(idle) }
      bench.host.clock.advance(by: duration)
    }
    try pass(.seconds(300), calls: 0)
    try pass(.seconds(300), calls: 99)
    // The hundredth call is not enough without the time, in which a server may begin to report.
    try start(2, usesStreams ? [:] : ["enableOobLoadReport": .bool(true)])
    try start(2, usesStreams ? ["enableOobLoadReport": .bool(true)] : [:])
    try pass(.seconds(usesStreams ? 180 : 10), calls: 100)
    #expect(bench.host.warnings.isEmpty)
    for _ in 0..<3 { try pass(.seconds(1), calls: 1) }
    #expect(bench.host.warnings.count == 1)
    #expect(
      bench.host.warnings.first?.hasPrefix("weighted_round_robin acts as round_robin: \(reason)") == true
    )
  }

  @Test
  func aServerThatReportsIsEnough() throws {
    try start(2, [:])
    _ = bench.counts(1000) { CallOutcome(status: .ok, loadReport: $0 == 0 ? report(1) : nil) }
    bench.host.clock.advance(by: .seconds(300))
    #expect(bench.host.warnings.isEmpty)
  }

  /// Calls that fail may not have come to the server.
  @Test
  func callsThatFailSayNothingAboutReports() throws {
    try start(2, [:])
    _ = bench.counts(1000) { _ in CallOutcome(status: GRPCStatus(code: .unavailable)) }
    bench.host.clock.advance(by: .seconds(300))
    #expect(bench.host.warnings.isEmpty)
  }

  @Test
  func streamsReplaceTheReportsOfCalls() throws {
    var config = eager
    config["enableOobLoadReport"] = .bool(true)
    config["oobReportingPeriod"] = .string("5s")
    try start(2, config)
    #expect(try bench.host[0].options.loadReportInterval == .seconds(5))
    #expect(bench.pick().tracker?.wantsLoadReport == false)
    try bench.host[0].report(report(100))
    try bench.host[1].report(report(300))
    #expect(bench.pick().tracker == nil)
    bench.host.clock.advance(by: .seconds(1))
    #expect(abs((shares(bench.counts(10_000))[1] ?? 0) - 0.75) < 0.01)
    // Back to calls, on the same subchannels.
    let before = bench.host.subchannels.count
    try bench.update("weighted_round_robin", eager, .numbers(0..<2))
    #expect(bench.host.subchannels.count == before)
    #expect(try bench.host[0].loadInterval == nil)
    #expect(bench.pick().tracker?.wantsLoadReport == true)
    try bench.host[0].report(report(10_000))
    bench.host.clock.advance(by: .seconds(1))
    #expect(abs((shares(bench.counts(10_000))[1] ?? 0) - 0.75) < 0.01)
  }

  @Test
  func aNewConnectionResetsTheWeight() throws {
    try start(2, ["blackoutPeriod": .string("2s")])
    for _ in 0..<4 {
      _ = bench.counts(10, end: ends([100, 300]))
      bench.host.clock.advance(by: .seconds(1))
    }
    #expect(abs((shares(bench.counts(10_000))[1] ?? 0) - 0.75) < 0.01)
    try bench.host[1].set(.idle)
    #expect(bench.counts(10) == [0: 10])
    try bench.host[1].set(.ready)
    bench.host.clock.advance(by: .seconds(1))
    #expect(bench.counts(100) == [0: 50, 1: 50])
  }

  @Test
  func extremeReportsNeverTrap() throws {
    try start(6, eager)
    let numbers = [
      0, -1, 1e-300, 1e308, .infinity, -.infinity, .nan, 1, Double.leastNonzeroMagnitude,
      .greatestFiniteMagnitude,
    ]
    var random = QuickRandom(seed: 7)
    for _ in 0..<3000 {
      var load = LoadReport()
      load.queriesPerSecond = numbers[random.next(below: numbers.count)]
      load.cpuUtilization = numbers[random.next(below: numbers.count)]
      load.applicationUtilization = numbers[random.next(below: numbers.count)]
      load.errorsPerSecond = numbers[random.next(below: numbers.count)]
      let pick = bench.pick()
      #expect(pick.number != nil)
      pick.tracker?.callEnded(CallOutcome(status: .ok, loadReport: load))
      bench.host.clock.advance(by: .milliseconds(random.next(below: 2000)))
    }
  }

  @Test
  func endpointsComeAndGoWhileWeighted() throws {
    try start(10, eager)
    let weights = (0..<10).map { Double(1 + $0 * $0 * 50) }
    _ = bench.counts(100, end: ends(weights))
    bench.host.clock.advance(by: .seconds(1))
    for number in 1..<10 {
      try bench.host[number].fail()
      #expect(bench.counts(50).keys.allSatisfy { $0 == 0 || $0 > number })
    }
    #expect(bench.counts(100) == [0: 100])
  }

  @Test
  func clampsThePeriodsOfItsConfig() throws {
    let policy = WeightedRoundRobin()
    let config = try policy.readConfig(
      ConfigReader(
        ["weightUpdatePeriod": .string("0.01s"), "oobReportingPeriod": .string("315576000000s")],
        at: ""
      ),
      PolicyRegistry()
    )
    #expect(config.weightUpdatePeriod == .milliseconds(100))
    #expect(config.oobReportingPeriod == ConfigLimit.period)
    for (member, value): (String, ConfigValue) in [
      ("errorUtilizationPenalty", .number(-0.1)), ("blackoutPeriod", .string("-1s")),
      ("weightExpirationPeriod", .number(3)), ("enableOobLoadReport", .number(1)),
    ] {
      let error = #expect(throws: GRPCStatus.self) {
        try bench.choice("weighted_round_robin", [member: value])
      }
      #expect(error?.message?.contains(member) == true)
    }
  }
}
