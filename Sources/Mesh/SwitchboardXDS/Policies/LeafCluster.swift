import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// The policy of a cluster that has servers: those that divide its calls, and what comes before them, such as limits and sessions.
struct LeafCluster: LoadBalancingPolicy {
  /// `nil`: servers are secured as the channel says.
  let contexts: ClusterContexts?
  /// What reports calls to a control plane.
  let reporter: @Sendable (ServerID) -> LoadReporter?

  var name: String { "xds_cluster_impl_experimental" }

  /// Only a resolver makes its configuration.
  func readConfig(_ reader: ConfigReader, _ policies: PolicyRegistry) throws(GRPCStatus) -> LeafConfig {
    throw GRPCStatus(code: .invalidArgument, message: "only a control plane configures \(name)")
  }

  func makeBalancer(_ host: any BalancerHost) -> LeafBalancer { LeafBalancer(host, contexts, reporter) }
}

/// The balancer of `LeafCluster`, and its picker.
final class LeafBalancer: LoadBalancer, ForwardingHost, Picker {
  let host: any BalancerHost
  private let contexts: ClusterContexts?
  private let reporter: (ServerID) -> LoadReporter?
  private lazy var child = ChildBalancer(self)
  private var state = ConnectivityState.connecting
  private var picker: any Picker = ConstantPicker(.wait)
  private var config: LeafConfig?
  private var names = PriorityNames()
  private let limits: ClusterLimits
  private var secured = SecuredServers()
  private let reported = ReportedServers()
  private let hosts = ServerHosts()
  private lazy var sessions = SessionServers(host) { [weak self] in self?.makeServer($0, $1, $2) }

  init(
    _ host: any BalancerHost,
    _ contexts: ClusterContexts?,
    _ reporter: @escaping (ServerID) -> LoadReporter?
  ) {
    self.host = host
    self.contexts = contexts
    self.reporter = reporter
    limits = ClusterLimits(seed: host.random())
  }

  /// The endpoints are in the configuration, by place.
  func update(_ endpoints: [Endpoint], _ leaf: LeafConfig) {
    guard leaf != config else { return }
    let before = config
    config = leaf
    if before?.differsInNote(from: leaf) == true { return }
    let name = leaf.cluster.name
    limits.update(leaf)
    hosts.update(leaf)
    let wasReported = reported.isActive
    reported.update(leaf, reporter)
    // Only servers that begin now are counted.
    if reported.isActive != wasReported { replaceChild() }
    if sessions.update(leaf) { replaceChild() }
    do throws(GRPCStatus) {
      // Connections that are secured in another way than the control plane says take no more calls.
      if try secured.update(leaf.cluster, contexts) { replaceChild() }
    } catch { return fail(.unusable(name, error.message ?? "\(error.code)")) }
    let plan = ClusterPlan(leaf, &names)
    guard !plan.endpoints.isEmpty else {
      let status = GRPCStatus.unusable(name, leaf.note ?? "it has no servers")
      // Sessions may still have some, which are about to end.
      if sessions.isActive { return endChild(.transientFailure, ConstantPicker(.fail(status))) }
      return fail(status)
    }
    let choice: PolicyChoice
    do throws(GRPCStatus) {
      choice = try policies.choose([plan.policy], at: name)
    } catch { return fail(.unusable(name, error.message ?? "\(error.code)")) }
    do throws(GRPCStatus) {
      try child.update(plan.endpoints, choice)
    } catch {
      // A place without servers, for one, is no reason to give up the others: the child says what becomes of calls.
      host.resolveAgain()
    }
  }

  /// Whoever has found the servers says what is wrong.
  func resolverFailed(_ status: GRPCStatus) {}

  /// Calls fail, and no server is kept for them.
  private func fail(_ status: GRPCStatus) {
    _ = sessions.update(nil)
    replaceChild(.transientFailure, ConstantPicker(.fail(status)))
  }

  /// No server is kept; calls wait for others, or have the picker that is given.
  private func replaceChild(
    _ state: ConnectivityState = .connecting,
    _ picker: any Picker = ConstantPicker(.wait)
  ) {
    sessions.forgetServers()
    endChild(state, picker)
  }

  private func endChild(_ state: ConnectivityState, _ picker: any Picker) {
    let old = child
    child = ChildBalancer(self)
    update(state, picker)
    // Last, so that the calls that it returns find the new picker.
    old.shutDown()
  }

  func leaveIdle() { if state == .idle { child.leaveIdle() } }

  func shutDown() {
    sessions.forgetServers()
    child.shutDown()
    reported.update(nil, reporter)
    picker = ConstantPicker(.wait)
    // Last, because calls that were returned may have asked the old picker.
    sessions.shutDown()
  }

  func pick(_ call: any CallToPick) -> Pick {
    let pick = limits.pick(call, sessions.picker(over: picker, for: call), reported.load)
    if case .fail(let status) = pick, let note = config?.ambient { return .fail(status.noting(note)) }
    guard reported.isActive, case .subchannel(let chosen, let tracker) = pick,
      let server = chosen as? ReportedSubchannel
    else { return pick }
    return server.pick(tracker) ?? pick
  }

  // MARK: For the policies

  func update(_ state: ConnectivityState, _ picker: any Picker) {
    self.state = state
    self.picker = picker
    host.update(state, self)
  }

  func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel {
    sessions.isActive
      ? sessions.makeSubchannel(addresses, options, observer) : makeServer(addresses, options, observer)
  }

  private func makeServer(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel {
    var options = options
    options.security = secured.security
    options.hosts = hosts
    guard reported.isActive else { return host.makeSubchannel(addresses, options, observer) }
    let server = ReportedSubchannel(reported, observer)
    server.start(host.makeSubchannel(addresses, options, server), addresses)
    return server
  }

  func resolveAgain() { host.resolveAgain() }
}

extension LeafConfig {
  /// Whether nothing else is different.
  fileprivate func differsInNote(from other: LeafConfig) -> Bool {
    var same = self
    same.ambient = other.ambient
    return same == other
  }
}

extension GRPCStatus {
  /// The same failure, with what may have to do with it.
  fileprivate func noting(_ note: String) -> GRPCStatus {
    GRPCStatus(code: code, message: "\(message ?? "\(code)") (\(note.excerpt(1000)))", origin: origin)
  }
}
