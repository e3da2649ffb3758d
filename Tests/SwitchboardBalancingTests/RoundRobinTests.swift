import SwitchboardBalancing
import SwitchboardCall
import Testing

@Suite
struct RoundRobinTests {
  private let bench = Bench()

  @Test
  func takesAllInTurn() throws {
    try bench.update("round_robin", [:], .numbers(0..<5))
    #expect(bench.host.state == .connecting)
    #expect(bench.pick().isWait)
    #expect(bench.host.open.allSatisfy { $0.connects == 1 && $0.options.checksHealth })
    bench.host.allReady()
    #expect(bench.host.state == .ready)
    #expect(bench.counts(500) == [0: 100, 1: 100, 2: 100, 3: 100, 4: 100])
  }

  @Test
  func skipsFailingEndpoints() throws {
    try bench.update("round_robin", [:], .numbers(0..<3))
    bench.host.allReady()
    try bench.host[1].set(.idle)
    #expect(try bench.host[1].connects == 2)
    #expect(bench.host.resolutions == 1)
    #expect(Set(bench.counts(100).keys) == [0, 2])
    try bench.host[1].set(.connecting)
    try bench.host[1].fail()
    try bench.host[0].fail("first")
    try bench.host[2].fail("last")
    #expect(bench.host.state == .transientFailure)
    #expect(bench.pick().failure?.message == "last")
    try bench.host[0].set(.idle)
    try bench.host[0].set(.connecting)
    #expect(bench.host.state == .transientFailure)
    try bench.host[0].set(.ready)
    #expect(bench.counts(10) == [0: 10])
  }

  @Test
  func updatesKeepSubchannels() throws {
    try bench.update("round_robin", [:], .numbers(0..<3) + [.number(1), Endpoint([])])
    bench.host.allReady()
    let kept = try bench.host[2]
    try bench.update("round_robin", [:], .numbers(2..<4))
    #expect(bench.host.open.count == 2)
    #expect(try bench.host[2] === kept)
    #expect(bench.counts(10) == [2: 10])
    bench.host.allReady()
    #expect(Set(bench.counts(10).keys) == [2, 3])
  }

  @Test
  func anotherOrderOfAddressesIsTheSameEndpoint() throws {
    try bench.update("round_robin", [:], [Endpoint([.number(1), .number(2)])])
    let subchannel = try bench.host[1]
    try bench.update("round_robin", [:], [Endpoint([.number(2), .number(1)])])
    #expect(try bench.host[1] === subchannel)
    #expect(subchannel.addresses == [.number(2), .number(1)])
  }

  @Test
  func withoutEndpointsCallsFail() throws {
    try bench.update("round_robin", [:], .numbers(0..<3))
    bench.host.allReady()
    #expect(throws: GRPCStatus.self) { try bench.update("round_robin", [:], []) }
    #expect(bench.host.open.isEmpty)
    #expect(bench.pick().failure?.code == .unavailable)
  }

  @Test
  func connectionsMaySucceedAtOnce() throws {
    bench.host.connectsAtOnce()
    try bench.update("round_robin", [:], .numbers(0..<100))
    #expect(bench.counts(1000).count == 100)
    #expect(bench.host.states == [.ready])
  }
}
