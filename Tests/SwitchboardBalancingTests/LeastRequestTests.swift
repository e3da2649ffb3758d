import SwitchboardBalancing
import SwitchboardCall
import Testing

@Suite
struct LeastRequestTests {
  private let bench = Bench()

  @Test
  func spreadsCallsEvenlyWithoutLoad() throws {
    try bench.update("least_request_experimental", [:], .numbers(0..<10))
    bench.host.allReady()
    for share in shares(bench.counts(100_000)).values { #expect(abs(share - 0.1) < 0.002) }
  }

  @Test
  func prefersEndpointsWithFewerCalls() throws {
    try bench.update("least_request", ["choiceCount": .number(2)], .numbers(0..<2))
    bench.host.allReady()
    var running: [Int: [any LoadTracker]] = [:]
    for _ in 0..<10 {
      let pick = bench.pick()
      running[try #require(pick.number), default: []].append(try #require(pick.tracker))
    }
    // The one with more calls is picked only if both draws are it.
    let busy = try #require(running.keys.max { running[$0]?.count ?? 0 < running[$1]?.count ?? 0 })
    for (number, trackers) in running where number != busy {
      for tracker in trackers { tracker.callEnded(CallOutcome(status: nil)) }
    }
    let counts = bench.counts(40_000)
    #expect(abs(Double(counts[busy] ?? 0) / 40_000 - 0.25) < 0.02)
  }

  @Test
  func manyChoicesFindTheLeastLoadedEndpoint() throws {
    // With as many draws as this, the one without calls is hardly ever missed among three.
    try bench.update("least_request", ["choiceCount": .number(4_000_000_000)], .numbers(0..<3))
    bench.host.allReady()
    var trackers: [any LoadTracker] = []
    for _ in 0..<300 { trackers.append(try #require(bench.pick().tracker)) }
    let loads = bench.counts(1)
    #expect(loads.count == 1)
    for tracker in trackers { #expect(!tracker.wantsLoadReport) }
  }

  @Test
  func rejectsFewerThanTwoChoices() throws {
    for value: ConfigValue in [
      .number(1), .number(0), .number(-1), .number(2.5), .string("x"), .number(1e300),
    ] {
      let error = #expect(throws: GRPCStatus.self) {
        try bench.choice("least_request", ["choiceCount": value])
      }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message?.contains("loadBalancingConfig[0].least_request.choiceCount") == true)
    }
    _ = try bench.choice("least_request", ["choiceCount": .string("3")])
  }
}
