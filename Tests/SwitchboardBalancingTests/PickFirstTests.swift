import SwitchboardBalancing
import SwitchboardCall
import Testing

@Suite
struct PickFirstTests {
  private let bench = Bench()

  @Test
  func oneSubchannelHasAllAddressesInOrder() throws {
    let double = Endpoint([.number(1), .number(2)])
    try bench.update("pick_first", [:], [.number(3), double, .number(3)])
    #expect(bench.host.open.count == 1)
    let subchannel = try bench.host[3]
    #expect(subchannel.addresses == [.number(3), .number(1), .number(2)])
    #expect(subchannel.connects == 1)
    #expect(!subchannel.options.checksHealth)
    subchannel.set(.connecting)
    #expect(bench.pick().isWait)
    subchannel.set(.ready)
    #expect(bench.host.state == .ready)
    #expect(bench.pick().number == 3)
    try bench.update("pick_first", [:], [.number(1)])
    #expect(bench.host.open.count == 1)
    #expect(subchannel.addresses == [.number(1)])
  }

  @Test
  func failureLastsUntilAConnectionWorks() throws {
    try bench.update("pick_first", [:], .numbers(0..<2))
    let subchannel = try bench.host[0]
    subchannel.set(.connecting)
    subchannel.fail("nobody there")
    #expect(bench.host.state == .transientFailure)
    #expect(bench.host.resolutions == 1)
    #expect(bench.pick().failure?.message == "nobody there")
    subchannel.set(.idle)
    #expect(subchannel.connects == 2)
    subchannel.set(.connecting)
    #expect(bench.host.state == .transientFailure)
    #expect(bench.pick().failure != nil)
    subchannel.set(.ready)
    #expect(bench.pick().number == 0)
  }

  @Test
  func afterALostConnectionACallConnectsAgain() throws {
    try bench.update("pick_first", [:], .numbers(0..<1))
    let subchannel = try bench.host[0]
    subchannel.set(.ready)
    subchannel.set(.idle)
    #expect(bench.host.state == .idle)
    #expect(bench.host.resolutions == 1)
    #expect(subchannel.connects == 1)
    #expect(bench.pick().isWait)
    #expect(bench.pick().isWait)
    #expect(subchannel.connects == 2)
  }

  @Test
  func shufflesOncePerListOfEndpoints() throws {
    let endpoints = [Endpoint].numbers(0..<20)
    var orders: Set<[EndpointAddress]> = []
    for seed in UInt64(0)..<10 {
      let bench = Bench(seed: seed)
      try bench.update("pick_first", ["shuffleAddressList": .bool(true)], endpoints)
      let first = try bench.host[0].addresses
      try bench.update("pick_first", ["shuffleAddressList": .bool(true)], endpoints)
      #expect(try bench.host[0].addresses == first)
      #expect(Set(first) == Set(endpoints.map { $0.addresses[0] }))
      orders.insert(first)
    }
    #expect(orders.count > 5)
  }

  @Test
  func withoutEndpointsCallsFail() throws {
    #expect(throws: GRPCStatus.self) { try bench.update("pick_first", [:], []) }
    #expect(bench.host.state == .transientFailure)
    try bench.update("pick_first", [:], .numbers(0..<1))
    try bench.host[0].set(.ready)
    bench.child.resolverFailed(GRPCStatus(code: .unavailable, message: "no DNS"))
    #expect(bench.pick().number == 0)
    #expect(throws: GRPCStatus.self) { try bench.update("pick_first", [:], []) }
    #expect(bench.host.open.isEmpty)
    #expect(bench.pick().failure?.code == .unavailable)
  }
}
