import SwitchboardCall

/// Calls go to the endpoint with the fewest calls in flight among a few that are drawn at random
/// (`least_request_experimental`, gRFC A48).
struct LeastRequest: LoadBalancingPolicy {
  /// The most endpoints drawn. More would make a pick slower, but hardly better.
  static let mostChoices = 10

  var name: String { "least_request_experimental" }

  func readConfig(
    _ reader: ConfigReader,
    _ policies: PolicyRegistry
  ) throws(GRPCStatus) -> LeastRequestBalancer.Config {
    let count = try reader.count("choiceCount", in: 2...ConfigLimit.count, default: 2)
    if count > Self.mostChoices {
      let reason = "is \(count): no more than \(Self.mostChoices) endpoints are drawn"
      reader.note([.doubt("choiceCount", reason)])
    }
    return LeastRequestBalancer.Config(choiceCount: min(count, Self.mostChoices))
  }

  func makeBalancer(_ host: any BalancerHost) -> LeastRequestBalancer { LeastRequestBalancer(host) }
}

/// The balancer of `least_request_experimental`.
final class LeastRequestBalancer: LoadBalancer, Picker {
  struct Config: Hashable, Sendable {
    /// How many endpoints are drawn, from 2 to 10.
    var choiceCount = 2
  }

  private let host: any BalancerHost
  private let endpoints: EndpointSubchannels
  private var choiceCount = 2
  private var random: QuickRandom

  init(_ host: any BalancerHost) {
    self.host = host
    random = QuickRandom(seed: host.random())
    endpoints = EndpointSubchannels(host)
    endpoints.events.changed = { [weak self] in self?.publish() }
  }

  func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {
    choiceCount = config.choiceCount
    self.endpoints.update(endpoints)
    guard !self.endpoints.members.isEmpty else {
      resolverFailed(.noEndpoints)
      throw .noEndpoints
    }
    publish()
  }

  func resolverFailed(_ status: GRPCStatus) {
    guard endpoints.members.isEmpty else { return }
    host.update(.transientFailure, ConstantPicker(.fail(status)))
  }

  func leaveIdle() {}

  func shutDown() { endpoints.shutDown() }

  private func publish() { host.update(endpoints, whenReady: self) }

  func pick(_ call: any CallToPick) -> Pick {
    let count = endpoints.ready.count
    guard count > 0 else { return .wait }
    var best = random.next(below: count)
    var fewest = endpoints.ready[best].calls
    // The same endpoint may be drawn again.
    for _ in 1..<choiceCount {
      let other = random.next(below: count)
      let calls = endpoints.ready[other].calls
      if calls < fewest { (best, fewest) = (other, calls) }
    }
    let member = endpoints.ready[best]
    member.calls += 1
    return .subchannel(member.subchannel, tracker: member)
  }
}

/// Counts the calls of `least_request`.
extension EndpointSubchannels.Member: LoadTracker {
  package var wantsLoadReport: Bool { false }
  package func callEnded(_ outcome: CallOutcome) { calls -= 1 }
}
