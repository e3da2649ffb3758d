import Switchboard

/// Each call goes to any of the servers that are connected.
struct RandomChoice: LoadBalancingPolicy {
  let name = "example.random"

  func readConfig(
    _ reader: ConfigReader,
    _ policies: PolicyRegistry
  ) throws(GRPCStatus) -> RandomBalancer.Config { RandomBalancer.Config() }

  func makeBalancer(_ host: any BalancerHost) -> RandomBalancer { RandomBalancer(host) }
}

/// Connects to all servers, and makes a picker of those that are ready.
final class RandomBalancer: LoadBalancer, SubchannelObserver {
  /// It has no settings.
  struct Config: Hashable, Sendable {}

  private let host: any BalancerHost
  private var subchannels: [Endpoint: any Subchannel] = [:]

  init(_ host: any BalancerHost) { self.host = host }

  func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {
    for (endpoint, subchannel) in subchannels where !endpoints.contains(endpoint) {
      subchannels[endpoint] = nil
      subchannel.shutDown()
    }
    for endpoint in endpoints where subchannels[endpoint] == nil {
      let subchannel = host.makeSubchannel(endpoint.addresses, SubchannelOptions(), self)
      subchannels[endpoint] = subchannel
      subchannel.connect()
    }
    publish()
    guard !endpoints.isEmpty else { throw GRPCStatus(code: .unavailable, message: "there are no servers") }
  }

  func resolverFailed(_ status: GRPCStatus) {
    if subchannels.isEmpty { host.update(.transientFailure, ConstantPicker(.fail(status))) }
  }

  /// It is never idle.
  func leaveIdle() {}

  func shutDown() {
    for subchannel in subchannels.values { subchannel.shutDown() }
  }

  func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState) {
    switch state.connectivity {
    case .idle: subchannel.connect()
    case .transientFailure: host.resolveAgain()
    case .connecting, .ready, .shutdown: break
    }
    publish()
  }

  private func publish() {
    let states = subchannels.values.map(\.state)
    let ready = subchannels.values.filter { $0.state.connectivity == .ready }
    if !ready.isEmpty {
      host.update(.ready, RandomPicker(ready))
    } else if states.contains(where: { $0.connectivity != .transientFailure }) {
      host.update(.connecting, ConstantPicker(.wait))
    } else {
      let failure = states.compactMap(\.failure).first
      let status = failure ?? GRPCStatus(code: .unavailable, message: "there are no servers")
      host.update(.transientFailure, ConstantPicker(.fail(status)))
    }
  }
}

final class RandomPicker: Picker {
  private let ready: [any Subchannel]
  private var generator = SystemRandomNumberGenerator()

  /// `ready` must not be empty.
  init(_ ready: [any Subchannel]) { self.ready = ready }

  func pick(_ call: any CallToPick) -> Pick {
    guard let chosen = ready.randomElement(using: &generator) else { return .wait }
    return .subchannel(chosen)
  }
}
