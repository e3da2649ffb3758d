import EchoService
import Switchboard
import SwitchboardCall
import TestSupport
import Testing

/// Picks each server twice before the next one.
private struct Twice: LoadBalancingPolicy {
  let name = "test.twice"

  func readConfig(_ reader: ConfigReader, _ policies: PolicyRegistry) -> TwiceBalancer.Config {
    TwiceBalancer.Config()
  }

  func makeBalancer(_ host: any BalancerHost) -> TwiceBalancer { TwiceBalancer(host) }
}

private final class TwiceBalancer: LoadBalancer, SubchannelObserver {
  struct Config: Hashable, Sendable {}

  private unowned let host: any BalancerHost
  private var subchannels: [any Subchannel] = []

  init(_ host: any BalancerHost) { self.host = host }

  func update(_ endpoints: [Endpoint], _ config: Config) {
    subchannels = endpoints.map { host.makeSubchannel($0.addresses, SubchannelOptions(), self) }
    for subchannel in subchannels { subchannel.connect() }
  }

  func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState) {
    guard subchannels.allSatisfy({ $0.state.connectivity == .ready }) else { return }
    host.update(.ready, TwicePicker(subchannels))
  }

  func resolverFailed(_ status: GRPCStatus) {}
  func leaveIdle() {}
  func shutDown() { for subchannel in subchannels { subchannel.shutDown() } }
}

private final class TwicePicker: Picker {
  private let order: [any Subchannel]
  private var next = 0

  init(_ subchannels: [any Subchannel]) { order = subchannels.flatMap { [$0, $0] } }

  func pick(_ call: any CallToPick) -> Pick {
    defer { next = (next + 1) % order.count }
    return .subchannel(order[next])
  }
}

/// Holds the calls that arrive until one has arrived at each of several servers.
private final class Rendezvous: Sendable {
  private struct State {
    var arrived: [String] = []
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let count: Int
  private let state = Locked(State())

  init(_ count: Int) { self.count = count }

  var arrived: [String] { state.withLock { $0.arrived } }

  func arrive(_ name: String) async {
    await withCheckedContinuation { continuation in
      let due = state.withLock { state in
        state.arrived.append(name)
        state.waiting.append(continuation)
        guard Set(state.arrived).count == count else { return State().waiting }
        defer { state.waiting = [] }
        return state.waiting
      }
      for waiter in due { waiter.resume() }
    }
  }
}

@Suite(.timeLimit(.minutes(2))) struct HedgedReplicaTests {
  /// Each attempt is held until all three servers have one, so the call only ends if they go to different servers.
  @Test func hedgesGoToDifferentServers() async throws {
    let rendezvous = Rendezvous(3)
    try await Replicas.with(3) { replicas async throws in
      for replica in replicas.providers { replica.onGet = { await rendezvous.arrive(replica.name) } }
      let client = try replicas.client(
        config: """
          {"loadBalancingConfig": [{"test.twice": {}}], "methodConfig": [{"name": [{}], "hedgingPolicy": {
            "maxAttempts": 3, "hedgingDelay": "0s"}}]}
          """
      ) { $0.loadBalancingPolicies = [Twice()] }
      _ = try await client.counts(1)
      #expect(rendezvous.arrived.sorted() == replicas.providers.map(\.name))
      for replica in replicas.providers { replica.onGet = nil }
      await client.channel.shutDown(grace: .zero)
    }
  }
}
