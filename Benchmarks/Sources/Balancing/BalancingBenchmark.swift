import CAllocator
import Switchboard
import SwitchboardBalancing
import SwitchboardCall

/// What balancing costs without any connection: picks, updates of many endpoints, and memory.
struct BalancingBenchmark {
  /// How many of the endpoints each update replaces.
  private static let replaced = 0.01
  private static let backends = 100

  private static let child: ConfigValue = .array([.object(["round_robin": .object([:])])])
  private static let policies: [(String, [String: ConfigValue])] = [
    ("pick_first", [:]), ("round_robin", [:]), ("weighted_round_robin", ["blackoutPeriod": .string("0s")]),
    ("least_request", [:]), ("ring_hash", ["requestHashHeader": .string("user-id")]),
    (
      "priority",
      ["children": .object(["a": .object(["config": child])]), "priorities": .array([.string("a")])]
    ),
    ("weighted_target", ["targets": .object(["a": .object(["weight": .number(1), "childPolicy": child])])]),
    ("outlier_detection", ["childPolicy": child, "successRateEjection": .object([:])]),
    (
      "outlier_detection",
      [
        "childPolicy": .array([.object(["least_request": .object([:])])]),
        "successRateEjection": .object([:]),
      ]
    ), ("random_subsetting", ["subsetSize": .number(100), "childPolicy": child]),
  ]

  let endpoints: Int
  let updates: Int
  let picks: Int

  init(_ arguments: inout Arguments) throws {
    endpoints = try arguments.nextCount("ENDPOINTS")
    updates = try arguments.nextCount("UPDATES")
    picks = try arguments.nextCount("PICKS")
    try arguments.end()
  }

  /// One line for each policy, and one for a whole channel.
  func run() async throws -> String {
    let lines = try Self.policies.map { name, members in
      let pick = try pickTime(name, members)
      let (update, bytes) = try updateTime(name, members)
      return "\(name) pick_ns=\(pick) update_us=\(update) bytes_per_endpoint=\(bytes)"
    }
    let channel = "channel bytes_per_endpoint=\(try await channelMemory())"
    return (lines + [channel]).joined(separator: "\n")
  }

  private func choice(_ name: String, _ members: [String: ConfigValue]) throws -> PolicyChoice {
    try PolicyRegistry().choose([LoadBalancingConfig(name, members)], at: "loadBalancingConfig")
  }

  /// Nanoseconds for a pick among 100 servers that are ready, and for the end of its call: the median of five runs.
  private func pickTime(_ name: String, _ members: [String: ConfigValue]) throws -> Int {
    let host = IdleHost(connects: true)
    let child = ChildBalancer(host)
    try child.update((0..<Self.backends).map(endpoint), try choice(name, members))
    host.clock.advance()
    for subchannel in host.subchannels { subchannel.become(.ready) }
    var report = LoadReport()
    report.queriesPerSecond = 100
    let call = IdleCall()
    for number in 0..<Self.backends * 10 {
      report.cpuUtilization = 0.1 + 0.05 * Double(number % 10)
      if case .subchannel(_, let tracker) = host.picker.pick(call) {
        tracker?.callEnded(CallOutcome(status: .ok, loadReport: report))
      }
    }
    host.clock.advance()
    let outcome = CallOutcome(status: .ok)
    let times = (0..<5).map { _ in
      nanoseconds {
        for _ in 0..<picks {
          if case .subchannel(_, let tracker) = host.picker.pick(call) { tracker?.callEnded(outcome) }
        }
      } / Double(picks)
    }
    child.shutDown()
    return Int(times.sorted()[2].rounded())
  }

  /// Microseconds for an update that replaces a hundredth of the endpoints, the median; and the bytes that the policy
  /// keeps for each endpoint, without its subchannel.
  private func updateTime(_ name: String, _ members: [String: ConfigValue]) throws -> (Int, Int) {
    let choice = try choice(name, members)
    let host = IdleHost(connects: true)
    let child = ChildBalancer(host)
    var current = (0..<endpoints).map(endpoint)
    let before = switchboard_allocated_bytes()
    try child.update(current, choice)
    let policy = Int(switchboard_allocated_bytes()) - Int(before)
    let made = host.subchannels.count
    let alone = Int(switchboard_allocated_bytes())
    let others = IdleHost(connects: false)
    for _ in 0..<made { _ = others.makeSubchannel([], SubchannelOptions(), others) }
    let bytes = policy - (Int(switchboard_allocated_bytes()) - alone)
    var times: [Double] = []
    for update in 0..<updates {
      let count = max(1, Int(Double(endpoints) * Self.replaced))
      let start = update * count % endpoints
      for position in start..<min(start + count, endpoints) {
        current[position] = endpoint(endpoints * (update + 1) + position)
      }
      host.subchannels.removeAll { $0.isShutDown }
      let reported = current
      try times.append(nanoseconds { try child.update(reported, choice) } / 1000)
      host.clock.advance()
    }
    child.shutDown()
    withExtendedLifetime(others) {}
    return (Int(times.sorted()[updates / 2].rounded()), bytes / endpoints)
  }

  /// The bytes that a channel holds for each endpoint, with a subchannel that does not connect.
  private func channelMemory() async throws -> Int {
    var options = ChannelOptions()
    options.loadBalancingPolicies = [Unconnected()]
    options.serviceConfig = try ServiceConfig(json: #"{"loadBalancingConfig": [{"bench.unconnected": {}}]}"#)
    options.security = .plaintext
    options.resolvers = [StaticResolver((0..<endpoints).map(endpoint))]
    let group = try LoopGroup()
    let before = Int(switchboard_allocated_bytes())
    let channel = try Channel(target: "static:///servers", options: options, group: group)
    channel.connect()
    var held = 0
    var previous: Int
    repeat {
      previous = held
      try await Task.sleep(for: .milliseconds(500))
      held = Int(switchboard_allocated_bytes()) - before
    } while held < endpoints * 100 || held - previous > endpoints
    await channel.shutDown(grace: .zero)
    return held / endpoints
  }

  private func endpoint(_ number: Int) -> Endpoint {
    var endpoint = Endpoint([.ipv4(0x0A00_0000 + UInt32(truncatingIfNeeded: number), port: 443)])
    endpoint.attributes[EndpointPath.self] = ["a"]
    return endpoint
  }

  private func nanoseconds(_ work: () throws -> Void) rethrows -> Double {
    let time = try ContinuousClock().measure(work)
    return Double(time.components.seconds) * 1e9 + Double(time.components.attoseconds) / 1e9
  }
}

/// Makes subchannels, and never connects them.
private struct Unconnected: LoadBalancingPolicy {
  let name = "bench.unconnected"

  func readConfig(_ reader: ConfigReader, _ policies: PolicyRegistry) -> UnconnectedBalancer.Config {
    UnconnectedBalancer.Config()
  }

  func makeBalancer(_ host: any BalancerHost) -> UnconnectedBalancer { UnconnectedBalancer(host) }
}

private final class UnconnectedBalancer: LoadBalancer, SubchannelObserver {
  struct Config: Hashable, Sendable {}

  private unowned let host: any BalancerHost
  private var subchannels: [any Subchannel] = []

  init(_ host: any BalancerHost) { self.host = host }

  func update(_ endpoints: [Endpoint], _ config: Config) {
    subchannels = endpoints.map { host.makeSubchannel($0.addresses, SubchannelOptions(), self) }
  }

  func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState) {}
  func resolverFailed(_ status: GRPCStatus) {}
  func leaveIdle() {}

  func shutDown() {
    for subchannel in subchannels { subchannel.shutDown() }
  }
}

private final class IdleCall: CallToPick {
  let method = MethodDescriptor(service: "bench.Bench", method: "Get", type: .unary)
  let metadata = HPACKHeaders([("trace", "0af7651916cd43dd8448eb211c80319c"), ("user-id", "user-4711")])
  let route: CallRoute? = nil
}
