import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// The servers of one cluster: the policies that divide its calls, and the limits that come before them.
final class ClusterBalancer: BalancerHost {
  private let name: String
  private let host: any BalancerHost
  private let contexts: ClusterContexts?
  private let reporter: (ServerID) -> LoadReporter?
  private let changed: (ConnectivityState, ConnectivityState) -> Void
  private lazy var child = ChildBalancer(self)
  private(set) var state = ConnectivityState.connecting
  private var picker: any Picker = ConstantPicker(.wait)
  private var config: ClusterConfig?
  private var names = PriorityNames()
  private let limits: ClusterLimits
  private var secured = SecuredServers()
  private let reported = ReportedServers()
  private let hosts = ServerHosts()
  private lazy var sessions = SessionServers(host) { [weak self] in self?.makeServer($0, $1, $2) }

  init(
    _ name: String,
    of host: any BalancerHost,
    _ contexts: ClusterContexts?,
    _ reporter: @escaping (ServerID) -> LoadReporter?,
    _ changed: @escaping (ConnectivityState, ConnectivityState) -> Void
  ) {
    self.name = name
    self.host = host
    self.contexts = contexts
    self.reporter = reporter
    self.changed = changed
    limits = ClusterLimits(seed: host.random())
  }

  func update(_ config: ClusterConfig) {
    guard config != self.config else { return }
    self.config = config
    switch config {
    case .failed(let reason):
      reported.update([], reporter)
      fail(.unusable(name, reason))
    case .leaves(let leaves, let policy):
      limits.update(leaves)
      hosts.update(leaves)
      let wasReported = reported.isActive
      reported.update(leaves, reporter)
      // Only servers that begin now are counted.
      if reported.isActive != wasReported { replaceChild() }
      if sessions.update(leaves) { replaceChild() }
      guard ClusterPlan.hasRoom(for: leaves) else {
        return fail(.unusable(name, "it leads to more than \(ClusterPlan.priorityLimit) priorities"))
      }
      do throws(GRPCStatus) {
        // Connections that are secured in another way than the control plane says take no more calls.
        if try secured.update(leaves, contexts) { replaceChild() }
      } catch { return fail(.unusable(name, error.message ?? "\(error.code)")) }
      let plan = ClusterPlan(leaves, policy, &names)
      guard !plan.endpoints.isEmpty else {
        let status = GRPCStatus.unusable(name, leaves.lazy.compactMap(\.note).first ?? "it has no servers")
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
  }

  /// Calls fail, and no server is kept for them.
  private func fail(_ status: GRPCStatus) {
    _ = sessions.update([])
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
    reported.update([], reporter)
    picker = ConstantPicker(.wait)
  }

  func pick(_ call: any CallToPick) -> Pick {
    let pick = limits.pick(call, sessions.picker(over: picker, for: call), reported.limited)
    guard reported.isActive, case .subchannel(let chosen, let tracker) = pick,
      let server = chosen as? ReportedSubchannel
    else { return pick }
    return server.pick(tracker) ?? pick
  }

  // MARK: For the policies

  func update(_ state: ConnectivityState, _ picker: any Picker) {
    let old = self.state
    self.state = state
    self.picker = picker
    changed(old, state)
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
    options.security = secured.security(of: addresses)
    options.hosts = hosts
    guard reported.isActive else { return host.makeSubchannel(addresses, options, observer) }
    let server = ReportedSubchannel(reported, observer)
    server.start(host.makeSubchannel(addresses, options, server), addresses)
    return server
  }

  func resolveAgain() { host.resolveAgain() }
  func random() -> UInt64 { host.random() }
  var time: any BalancerTime { host.time }
  var policies: PolicyRegistry { host.policies }
  var metrics: MetricScope? { host.metrics }
}

extension GRPCStatus {
  fileprivate static func unusable(_ cluster: String, _ reason: String) -> GRPCStatus {
    GRPCStatus(code: .unavailable, message: "the cluster \(cluster.excerpt): \(reason)", origin: .library)
  }
}
