import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// The policy of a channel that a control plane configures: each call goes to the cluster that its route names.
struct ClusterManager: LoadBalancingPolicy {
  /// `nil`: servers are secured as the channel says.
  let contexts: ClusterContexts?
  /// What reports calls to a control plane.
  let reporter: @Sendable (ServerID) -> LoadReporter?

  var name: String { "xds_cluster_manager_experimental" }

  /// Only a resolver makes its configuration.
  func readConfig(
    _ reader: ConfigReader,
    _ policies: PolicyRegistry
  ) throws(GRPCStatus) -> ClusterManagerBalancer.Config { [:] }

  func makeBalancer(_ host: any BalancerHost) -> ClusterManagerBalancer {
    ClusterManagerBalancer(host, LeafCluster(contexts: contexts, reporter: reporter))
  }
}

/// The balancer of `ClusterManager`, and its picker.
final class ClusterManagerBalancer: LoadBalancer, Picker {
  typealias Config = [ExactText: ClusterConfig]

  private let host: any BalancerHost
  private let leaf: LeafCluster
  private var children: [ExactText: ClusterBalancer] = [:]
  private var states = StateCounts()
  private var isUpdating = false
  private var hasEnded = false

  init(_ host: any BalancerHost, _ leaf: LeafCluster) {
    self.host = host
    self.leaf = leaf
  }

  /// The endpoints are in the configuration.
  func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {
    isUpdating = true
    for (name, cluster) in config {
      // A child's report may end this balancer.
      guard !hasEnded else { return }
      let child = children[name] ?? makeChild(name)
      child.update(cluster)
    }
    for (name, child) in children where config[name] == nil {
      children[name] = nil
      states.move(from: child.state, to: .shutdown)
      child.shutDown()
    }
    isUpdating = false
    publish()
  }

  private func makeChild(_ name: ExactText) -> ClusterBalancer {
    let child = ClusterBalancer(name.text, of: host, leaf) { [weak self] in
      self?.changed(from: $0, to: $1)
    }
    children[name] = child
    states.move(from: nil, to: child.state)
    return child
  }

  private func changed(from old: ConnectivityState, to new: ConnectivityState) {
    guard !hasEnded else { return }
    states.move(from: old, to: new)
    if !isUpdating { publish() }
  }

  private func publish() { if !hasEnded { host.update(states.combined, self) } }

  func resolverFailed(_ status: GRPCStatus) {
    if children.isEmpty { host.update(.transientFailure, ConstantPicker(.fail(status))) }
  }

  func leaveIdle() { for child in children.values { child.leaveIdle() } }

  func shutDown() {
    hasEnded = true
    for child in children.values { child.shutDown() }
    children = [:]
  }

  func pick(_ call: any CallToPick) -> Pick {
    guard let route = call.route, let child = children[route.child] else {
      // Routes come after the clusters that they lead to; a call may still be on its way when its cluster has gone.
      return isUpdating ? .wait : .fail(.noCluster(call.route?.child))
    }
    return child.picker.pick(call)
  }
}

extension GRPCStatus {
  fileprivate static func noCluster(_ name: String?) -> GRPCStatus {
    let cluster = name.map { "the cluster \($0.excerpt) is gone" } ?? "the call has no route"
    return GRPCStatus(code: .unavailable, message: cluster, origin: .library)
  }
}
