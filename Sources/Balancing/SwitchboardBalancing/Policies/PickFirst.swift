import SwitchboardCall

/// Sends all calls to one server: the first address of any endpoint that accepts a connection (`pick_first`).
///
/// Addresses are tried as RFC 8305 describes, alternating between IPv6 and IPv4. When all have failed, calls fail until
/// one works (gRFC A62).
public struct PickFirst: LoadBalancingPolicy {
  public var name: String { "pick_first" }

  /// The policy.
  public init() {}

  public func readConfig(
    _ reader: ConfigReader,
    _ policies: PolicyRegistry
  ) throws(GRPCStatus) -> PickFirstBalancer.Config {
    PickFirstBalancer.Config(shuffleAddressList: try reader.bool("shuffleAddressList") ?? false)
  }

  public func makeBalancer(_ host: any BalancerHost) -> PickFirstBalancer { PickFirstBalancer(host) }
}

/// The balancer of `pick_first`.
public final class PickFirstBalancer: LoadBalancer, SubchannelObserver {
  /// Its configuration.
  public struct Config: Hashable, Sendable {
    /// Whether each client tries the endpoints in a random order.
    public var shuffleAddressList = false
  }

  private let host: any BalancerHost
  private var meter: PickFirstMeter?
  private var subchannel: (any Subchannel)?
  /// The labels with which the subchannel was made.
  private var labels: [String: String] = [:]
  private var order: (endpoints: [Endpoint], shuffled: [Endpoint])?
  /// Whether all addresses have failed since one last worked.
  private var hasFailed = false
  private var isUpdating = false

  init(_ host: any BalancerHost) {
    self.host = host
    meter = PickFirstMeter(host.metrics)
  }

  public func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {
    var addresses: [EndpointAddress] = []
    var seen: Set<EndpointAddress> = []
    for endpoint in config.shuffleAddressList ? shuffled(endpoints) : endpoints {
      for address in endpoint.addresses where seen.insert(address).inserted { addresses.append(address) }
    }
    guard !addresses.isEmpty else {
      endSubchannel()
      resolverFailed(.noEndpoints)
      throw .noEndpoints
    }
    let labels = endpoints.commonMetricLabels
    if labels != self.labels {
      // Calls to the old one, which finish, keep its labels.
      endSubchannel()
      self.labels = labels
    }
    if let subchannel {
      let wasServing = subchannel.state.connectivity == .ready
      isUpdating = true
      subchannel.update(addresses)
      isUpdating = false
      // The connection closed because its address was removed: connect to another.
      if wasServing, subchannel.state.connectivity == .idle { subchannel.connect() }
      return
    }
    var options = SubchannelOptions()
    options.checksHealth = false
    options.metricLabels = labels
    let subchannel = host.makeSubchannel(addresses, options, self)
    self.subchannel = subchannel
    subchannel.connect()
  }

  /// Shuffles the endpoints. The same endpoints get the same order, so that an update does not move the channel to
  /// another server.
  private func shuffled(_ endpoints: [Endpoint]) -> [Endpoint] {
    if let order, order.endpoints == endpoints { return order.shuffled }
    var generator = host.generator
    let shuffled = endpoints.shuffled(using: &generator)
    order = (endpoints, shuffled)
    return shuffled
  }

  public func resolverFailed(_ status: GRPCStatus) {
    guard subchannel == nil else { return }
    host.update(.transientFailure, ConstantPicker(.fail(status)))
  }

  public func leaveIdle() { subchannel?.connect() }

  public func shutDown() { endSubchannel() }

  private func endSubchannel() {
    subchannel?.shutDown()
    subchannel = nil
    meter?.subchannelEnded()
  }

  public func subchannelChanged(_ changed: any Subchannel, to state: SubchannelState) {
    guard let subchannel, changed === subchannel else { return }
    meter?.note(state.connectivity)
    switch state.connectivity {
    case .ready:
      hasFailed = false
      host.update(.ready, ConstantPicker(.subchannel(subchannel)))
    case .connecting:
      if !hasFailed { host.update(.connecting, ConstantPicker(.wait)) }
    case .idle where hasFailed: subchannel.connect()
    case .idle:
      host.update(.idle, WakingPicker { [weak subchannel] in subchannel?.connect() })
      if !isUpdating { host.resolveAgain() }
    case .transientFailure:
      hasFailed = true
      host.update(.transientFailure, ConstantPicker(.fail(state.failure ?? .noServer)))
      host.resolveAgain()
    case .shutdown: break
    }
  }
}

extension GRPCStatus {
  static let noEndpoints = GRPCStatus(
    code: .unavailable,
    message: "the name has no addresses",
    origin: .library
  )
  static let noServer = GRPCStatus(code: .unavailable, message: "no server can be reached", origin: .library)
}
