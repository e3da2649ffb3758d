import SwitchboardCall

/// Sends calls to all connected endpoints in turn (`round_robin`).
public struct RoundRobin: LoadBalancingPolicy {
  public var name: String { "round_robin" }

  /// The policy.
  public init() {}

  public func readConfig(
    _ reader: ConfigReader,
    _ policies: PolicyRegistry
  ) throws(GRPCStatus) -> RoundRobinBalancer.Config { RoundRobinBalancer.Config() }

  public func makeBalancer(_ host: any BalancerHost) -> RoundRobinBalancer { RoundRobinBalancer(host) }
}

/// The balancer of `round_robin`.
public final class RoundRobinBalancer: LoadBalancer, Picker {
  /// It has no options.
  public struct Config: Hashable, Sendable {}

  private let host: any BalancerHost
  private let endpoints: EndpointSubchannels
  private var next: Int

  init(_ host: any BalancerHost) {
    self.host = host
    // Clients that start together must not all begin with the same server.
    next = Int(host.random() >> 34)
    endpoints = EndpointSubchannels(host)
    endpoints.events.changed = { [weak self] in self?.publish() }
  }

  public func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {
    self.endpoints.update(endpoints)
    guard !self.endpoints.members.isEmpty else {
      resolverFailed(.noEndpoints)
      throw .noEndpoints
    }
    publish()
  }

  public func resolverFailed(_ status: GRPCStatus) {
    guard endpoints.members.isEmpty else { return }
    host.update(.transientFailure, ConstantPicker(.fail(status)))
  }

  public func leaveIdle() {}

  public func shutDown() { endpoints.shutDown() }

  private func publish() { host.update(endpoints, whenReady: self) }

  public func pick(_ call: any CallToPick) -> Pick {
    let count = endpoints.ready.count
    guard count > 0 else { return .wait }
    // The initial value may be beyond the count.
    next = next < count ? next + 1 : next % count
    if next == count { next = 0 }
    return .subchannel(endpoints.ready[next].subchannel)
  }
}
