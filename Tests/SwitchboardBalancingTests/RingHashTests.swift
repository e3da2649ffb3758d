import SwitchboardCall
import Testing

@testable import SwitchboardBalancing

@Suite
struct XXHash64Tests {
  /// From the tests of other implementations.
  @Test(
    arguments: [
      ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B), ("as", 0x1C33_0FB2_D66B_E179),
      ("asd", 0x631C_37CE_72A9_7393), ("asdf", 0x4158_72F5_99CE_A71E), ("abc", 0x44BC_2CF5_AD77_0999),
      ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
      ("Call me Ishmael. Some years ago--never mind how long precisely-", 0x02A2_E854_70D6_FD96),
    ] as [(String, UInt64)]
  )
  func hashesMatchTheTestVectors(_ text: String, _ hash: UInt64) { #expect(XXHash64.hash(text) == hash) }

  @Test
  func theSeedChangesTheHash() {
    #expect(XXHash64.hash("xxhash", seed: 20_141_025) == 13_067_679_811_253_438_005)
  }
}

@Suite
struct RingHashTests {
  private let bench = Bench()
  private let config: [String: ConfigValue] = ["requestHashHeader": .string("Key")]

  private func call(_ key: String...) -> FakeCall { FakeCall(HPACKHeaders(key.map { ("key", $0) })) }

  /// What a fresh policy would do with the call once everything is connected.
  private func home(of call: FakeCall) throws -> Int { try #require(bench.pick(call).number) }

  @Test
  func equalKeysGetTheSameEndpoint() throws {
    try bench.update("ring_hash_experimental", config, .numbers(0..<10))
    bench.host.allReady()
    var counts: [Int: Int] = [:]
    for key in 0..<20_000 {
      let number = try home(of: call("user-\(key)"))
      counts[number, default: 0] += 1
      if key < 100 { #expect(try home(of: call("user-\(key)")) == number) }
    }
    #expect(counts.count == 10)
    // The law: each endpoint gets the keys in its arcs of the ring.
    let ring = HashRing(
      [Endpoint].numbers(0..<10).map { endpoint in HashRing.Item(key: { endpoint.hashKey }, weight: 1) },
      smallest: 1024,
      largest: 4096
    )
    var random = QuickRandom(seed: 3)
    var arcs: [Int: Int] = [:]
    for _ in 0..<200_000 { arcs[ring.items[ring.position(of: random.next())], default: 0] += 1 }
    for (number, share) in shares(counts) { #expect(abs(share - (shares(arcs)[number] ?? 0)) < 0.02) }
  }

  /// A connection was asked for just before the last endpoint went. Afterwards, calls waited forever.
  @Test
  func callsFailOnceAllEndpointsAreGone() throws {
    try bench.update("ring_hash_experimental", [:], .numbers(0..<2))
    _ = bench.pick()
    #expect(throws: GRPCStatus.self) { try bench.update("ring_hash_experimental", [:], []) }
    bench.host.clock.advance()
    guard case .fail = bench.pick() else {
      Issue.record("a call does not fail")
      return
    }
  }

  @Test
  func theRingFollowsTheSpecification() {
    // By hand: "10.0.0.N:80_I", each as often as the smallest ring of 3 with weights 1 and 2 wants.
    let items = [
      HashRing.Item(key: { "10.0.0.0:80" }, weight: 1), HashRing.Item(key: { "10.0.0.1:80" }, weight: 2),
    ]
    let ring = HashRing(items, smallest: 3, largest: 4096)
    let expected = [
      (XXHash64.hash("10.0.0.0:80_0"), 0), (XXHash64.hash("10.0.0.1:80_0"), 1),
      (XXHash64.hash("10.0.0.1:80_1"), 1),
    ].sorted { $0.0 < $1.0 }
    #expect(ring.items == expected.map(\.1))
    for (position, entry) in expected.enumerated() {
      #expect(ring.position(of: entry.0) == position)
      #expect(ring.position(of: entry.0 &+ 1) == (position + 1) % 3)
    }
    #expect(HashRing(items, smallest: 1024, largest: 4096).items.count == 1026)
    #expect(HashRing(items, smallest: 1024, largest: 1024).items.count == 1024)
  }

  /// The last digits of the ports, less 1, of the servers that grpcio 1.85 sent the keys `user-0` and so on to.
  @Test(arguments: [
    (
      [1, 2, 3, 4, 5], 1024, 4096,
      "4214204410034142404202022204410032204321414020010424420443333034344443431120410310244202134214204422"
        + "3114331314334442211222124230120021411042024110443024134441440143121243331313323022200440310004440131"
    ),
    (
      [3, 1, 2, 1, 1], 7, 100,
      "2020220110012012200000222010020200122002002120002000020000020020202102120022000222020120020222000000"
        + "0021000020202022010001102000200000002000120000012120002001110020210222000002202000200020020200020002"
    ),
  ])
  func agreesWithGRPCIO(_ ports: [UInt16], _ smallest: Int, _ largest: Int, _ expected: String) throws {
    let config: [String: ConfigValue] = [
      "requestHashHeader": .string("key"), "minRingSize": .number(Double(smallest)),
      "maxRingSize": .number(Double(largest)),
    ]
    try bench.update("ring_hash", config, ports.map { Endpoint([.ipv4(0x7F00_0001, port: 47_100 + $0)]) })
    bench.host.allReady()
    var found = ""
    for key in 0..<expected.count {
      guard case .subchannel(let subchannel, _) = bench.pick(call("user-\(key)")) else { continue }
      let port = try #require((subchannel as? FakeSubchannel)?.addresses.first?.port)
      found += "\(port - 47_101)"
    }
    #expect(found == expected)
  }

  @Test
  func endpointsAreHashedByKeyOrAddress() {
    #expect(EndpointAddress.ipv6(high: 0, low: 1, port: 5).hashKey == "[::1]:5")
    #expect(EndpointAddress.unix(path: "/tmp/a").hashKey == "/tmp/a")
    #expect(EndpointAddress.unixAbstract(name: "a").hashKey == "\0a")
    #expect(EndpointAddress.proxied(.ipv4(1, port: 5), by: .ipv4(2, port: 6)).hashKey == "0.0.0.1:5")
    #expect(EndpointAddress.secured(.ipv4(1, port: 5), as: "a.example").hashKey == "0.0.0.1:5")
    var endpoint = Endpoint.number(1)
    #expect(endpoint.hashKey == "10.0.0.1:80")
    endpoint.attributes[EndpointHashKey.self] = "pod-1"
    #expect(endpoint.hashKey == "pod-1")
    endpoint.attributes[EndpointHashKey.self] = ""
    #expect(endpoint.hashKey == "10.0.0.1:80")
  }

  @Test
  func weightsAreRespected() throws {
    let endpoints = (0..<4).map { Endpoint.number($0, weight: UInt32($0 + 1)) }
    try bench.update("ring_hash", ["minRingSize": .number(4096)], endpoints)
    bench.host.allReady()
    for (number, share) in shares(bench.counts(50_000)) {
      #expect(abs(share - Double(number + 1) / 10) < 0.04)
    }
  }

  @Test
  func addingAnEndpointMovesFewKeys() throws {
    try bench.update("ring_hash", config, .numbers(0..<10))
    bench.host.allReady()
    let before = try (0..<2000).map { try home(of: call("\($0)")) }
    try bench.update("ring_hash", config, .numbers(0..<11))
    bench.host.allReady()
    var moved = 0
    for (key, number) in before.enumerated() {
      let now = try home(of: call("\(key)"))
      if now != number { moved += 1 }
    }
    // An eleventh go to the new one, and less to others in places that endpoints gave up.
    #expect((100...400).contains(moved))
  }

  @Test
  func connectsOnlyEndpointsThatCallsNeed() throws {
    try bench.update("ring_hash", config, .numbers(0..<10))
    #expect(bench.host.state == .idle)
    #expect(bench.host.open.allSatisfy { $0.connects == 0 })
    let call = call("x")
    #expect(bench.pick(call).isWait)
    #expect(bench.pick(call).isWait)
    bench.host.clock.advance()
    let connecting = bench.host.open.filter { $0.connects > 0 }
    #expect(connecting.count == 1)
    connecting[0].set(.connecting)
    #expect(bench.host.state == .connecting)
    connecting[0].set(.ready)
    #expect(bench.pick(call).number == connecting[0].addresses[0].number)
    // A lost connection is not made again before a call needs it.
    connecting[0].set(.idle)
    #expect(bench.host.state == .idle)
    #expect(bench.host.resolutions == 1)
    #expect(connecting[0].connects == 1)
  }

  @Test
  func callsMoveOnAfterFailures() throws {
    try bench.update("ring_hash", config, .numbers(0..<5))
    let call = call("x")
    _ = bench.pick(call)
    bench.host.clock.advance()
    let first = try #require(bench.host.open.first { $0.connects > 0 })
    first.set(.connecting)
    first.fail("one")
    // One failure among several is not one of all, and another is tried without calls.
    #expect(bench.host.state == .connecting)
    bench.host.clock.advance()
    let second = try #require(bench.host.open.first { $0.connects > 0 && $0 !== first })
    second.set(.connecting)
    second.fail("two")
    #expect(bench.host.state == .transientFailure)
    bench.host.clock.advance()
    let third = try #require(bench.host.open.first { $0.connects > 0 && $0 !== first && $0 !== second })
    third.set(.connecting)
    third.set(.ready)
    #expect(bench.host.state == .ready)
    // A call waits for the next on its ring that has not failed, or goes there.
    _ = bench.pick(call)
    bench.host.clock.advance()
    for subchannel in bench.host.open where subchannel.connects > 0 && subchannel.state.connectivity == .idle
    {
      subchannel.set(.ready)
    }
    #expect(bench.pick(call).number != nil)
    first.set(.idle)
    #expect(first.connects == 2)
    first.set(.connecting)
    first.set(.ready)
    #expect(bench.pick(call).number == first.addresses[0].number)
  }

  @Test
  func failsWhenAllHaveFailed() throws {
    try bench.update("ring_hash", config, .numbers(0..<3))
    for (number, subchannel) in bench.host.open.enumerated() { subchannel.fail("server \(number)") }
    #expect(bench.host.state == .transientFailure)
    #expect(bench.pick(call("x")).failure?.message == "server 2")
    #expect(bench.pick().failure?.message == "server 2")
  }

  @Test
  func callsDoNotWaitForAnEndpointThatFailedBeforeItConnected() throws {
    try bench.update("ring_hash", [:], .numbers(0..<3))
    #expect(bench.pick().isWait)
    for subchannel in bench.host.open.dropLast() { subchannel.fail() }
    bench.host.clock.advance()
    _ = bench.pick()
    bench.host.clock.advance()
    #expect(try bench.host[2].connects > 0)
  }

  /// A name that is misspelled, or that only a proxy sets, would leave each call to chance.
  @Test
  func callsWithoutTheirKeyAreReportedOnce() throws {
    try bench.update("ring_hash", config, .numbers(0..<2))
    // Calls that wait are placed again, and count once they have a server.
    for _ in 0..<200 { #expect(bench.pick().isWait) }
    bench.host.clock.advance()
    bench.host.allReady()
    for _ in 0..<99 { _ = bench.pick() }
    #expect(bench.host.warnings.isEmpty)
    for _ in 0..<200 { _ = bench.pick() }
    let lacks = "none of the first 100 had the metadata key, which requestHashHeader names"
    #expect(bench.host.warnings == ["ring_hash: each call goes to a server at random: \(lacks)"])
  }

  @Test
  func oneCallWithItsKeyIsEnough() throws {
    try bench.update("ring_hash", config, .numbers(0..<2))
    bench.host.allReady()
    for _ in 0..<99 { _ = bench.pick() }
    _ = bench.pick(call("x"))
    for _ in 0..<200 { _ = bench.pick() }
    #expect(bench.host.warnings.isEmpty)
  }

  @Test
  func withoutAHashPolicyCallsAreMeantToBePlacedAtRandom() throws {
    try bench.update("ring_hash", [:], .numbers(0..<2))
    bench.host.allReady()
    let call = FakeCall()
    call.route = CallRoute(to: "x")
    for _ in 0..<200 { _ = bench.pick(call) }
    #expect(bench.host.warnings.isEmpty)
    call.route = CallRoute(to: "x", hash: { _ in nil })
    for _ in 0..<200 { _ = bench.pick(call) }
    #expect(
      bench.host.warnings.map { $0.hasSuffix("had what the hash policies of their routes look at") } == [true]
    )
  }

  /// As an xDS route with a hash policy asks for.
  @Test
  func aRouteMayChooseByItsOwnHash() throws {
    try bench.update("ring_hash", [:], .numbers(0..<8))
    bench.host.allReady()
    let keyed = FakeCall([("user", "ada")])
    keyed.route = CallRoute(to: "x") { $0.first(name: "user").map { XXHash64.hash($0) } }
    let homes = try (0..<20).map { _ in try home(of: keyed) }
    #expect(Set(homes).count == 1)
    keyed.metadata = HPACKHeaders()
    #expect(Set(try (0..<60).map { _ in try home(of: keyed) }).count > 1)
  }

  @Test
  func callsWithoutAKeyGetTheFirstReadyEndpoint() throws {
    try bench.update("ring_hash", config, .numbers(0..<5))
    #expect(bench.pick().isWait)
    #expect(bench.pick().isWait)
    bench.host.clock.advance()
    #expect(bench.host.open.filter { $0.connects > 0 }.count == 1)
    let first = try #require(bench.host.open.first { $0.connects > 0 })
    first.set(.connecting)
    #expect(bench.pick().isWait)
    bench.host.clock.advance()
    #expect(bench.host.open.filter { $0.connects > 0 }.count == 1)
    first.set(.ready)
    for _ in 0..<50 { #expect(bench.pick().number == first.addresses[0].number) }
  }

  @Test
  func severalValuesFormOneKey() throws {
    try bench.update("ring_hash", config, .numbers(0..<50))
    bench.host.allReady()
    #expect(try home(of: call("a", "b")) == home(of: call("a,b")))
    let other = FakeCall(HPACKHeaders([("key", "a"), ("other", "x"), ("KEY", "b")]))
    #expect(try home(of: other) == home(of: call("a,b")))
  }

  @Test
  func endpointsThatFailAtOnceConnectOnlyOnce() throws {
    bench.host.connectsTo = [
      SubchannelState(.connecting),
      SubchannelState(.transientFailure, failure: GRPCStatus(code: .unavailable, message: "refused")),
    ]
    try bench.update("ring_hash", config, .numbers(0..<2000))
    _ = bench.pick(call("x"))
    bench.host.clock.advance()
    #expect(bench.host.open.allSatisfy { $0.connects == 1 })
    #expect(bench.host.state == .transientFailure)
  }

  @Test
  func rejectsBadConfigs() throws {
    for (member, value): (String, ConfigValue) in [
      ("minRingSize", .number(0)), ("maxRingSize", .number(8_388_609)), ("minRingSize", .number(-1)),
      ("maxRingSize", .number(1e300)), ("minRingSize", .number(5000)), ("requestHashHeader", .string("a b")),
      ("requestHashHeader", .string("key-bin")), ("requestHashHeader", .string(":path")),
    ] {
      let error = #expect(throws: GRPCStatus.self) { try bench.choice("ring_hash", [member: value]) }
      #expect(error?.code == .invalidArgument)
    }
    let large: [String: ConfigValue] = ["minRingSize": .number(8_388_608), "maxRingSize": .number(8_388_608)]
    let config = try RingHash().readConfig(ConfigReader(large, at: ""), PolicyRegistry())
    #expect(config.maxRingSize == 4096)
  }
}
