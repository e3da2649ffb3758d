import SwitchboardBalancing
import SwitchboardCall
import Testing

@Suite
struct RandomSubsettingTests {
  private func config(_ size: Double, _ member: String = "subsetSize") -> [String: ConfigValue] {
    [member: .number(size), "childPolicy": .policies("round_robin")]
  }

  private func subset(_ bench: Bench) -> Set<Int> {
    Set(bench.host.open.compactMap { $0.addresses[0].number })
  }

  @Test
  func clientsGetDifferentSubsetsOfEqualSize() throws {
    var counts: [Int: Int] = [:]
    for seed in UInt64(0)..<2000 {
      let bench = Bench(seed: seed)
      try bench.update("random_subsetting", config(5), .numbers(0..<50))
      #expect(bench.host.open.count == 5)
      for number in subset(bench) { counts[number, default: 0] += 1 }
    }
    for number in 0..<50 { #expect(abs(Double(counts[number] ?? 0) / 2000 - 0.1) < 0.03) }
  }

  @Test
  func addingOrRemovingAnEndpointMovesAtMostOne() throws {
    for seed in UInt64(0)..<50 {
      let bench = Bench(seed: seed)
      try bench.update("random_subsetting_experimental", config(5, "subset_size"), .numbers(0..<50))
      let before = subset(bench)
      try bench.update("random_subsetting", config(5), .numbers(0..<51))
      #expect(before.subtracting(subset(bench)).count <= 1)
      try bench.update("random_subsetting", config(5), .numbers(1..<51))
      #expect(before.subtracting(subset(bench)).count <= 2)
    }
  }

  @Test
  func fewEndpointsAreAllUsed() throws {
    let bench = Bench()
    try bench.update("random_subsetting", config(5), .numbers(0..<3) + [Endpoint([])])
    bench.host.allReady()
    #expect(bench.counts(30) == [0: 10, 1: 10, 2: 10])
  }

  @Test
  func rejectsBadConfigs() throws {
    let bench = Bench()
    let noChild: [String: ConfigValue] = ["subsetSize": .number(3)]
    let noSize: [String: ConfigValue] = ["childPolicy": .policies("round_robin")]
    for (config, member) in [
      (config(0), "subsetSize"), (config(-1), "subsetSize"), (config(1e300), "subsetSize"),
      (noSize, "subsetSize"),
      (noChild, "childPolicy"),
    ] {
      let error = #expect(throws: GRPCStatus.self) { try bench.choice("random_subsetting", config) }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message?.contains(member) == true)
    }
  }
}
