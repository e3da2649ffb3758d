import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// A cluster that calls may go to: its servers, or, of those that an aggregate leads to, the first cluster that works (gRFC A75).
final class ClusterBalancer: ForwardingHost {
  /// No policy has more children.
  static let leafLimit = EndpointsResource.limit

  private let name: String
  let host: any BalancerHost
  private let policy: LeafCluster
  private let changed: (ConnectivityState, ConnectivityState) -> Void
  private lazy var child = ChildBalancer(self)
  private(set) var state = ConnectivityState.connecting
  private(set) var picker: any Picker = ConstantPicker(.wait)
  private var config: ClusterConfig?
  /// What the policy calls the clusters of an aggregate.
  private var names: [ExactText: String] = [:]
  private var lastName = 0

  init(
    _ name: String,
    of host: any BalancerHost,
    _ policy: LeafCluster,
    _ changed: @escaping (ConnectivityState, ConnectivityState) -> Void
  ) {
    self.name = name
    self.host = host
    self.policy = policy
    self.changed = changed
  }

  func update(_ config: ClusterConfig) {
    guard config != self.config else { return }
    self.config = config
    do throws(GRPCStatus) {
      switch config {
      case .failed(let reason): throw .unusable(name, reason)
      case .leaves(let leaves, let isAggregate):
        guard !leaves.isEmpty else { throw .unusable(name, "it leads to no cluster that there is") }
        guard leaves.count <= Self.leafLimit else {
          throw .unusable(name, "it leads to more than \(Self.leafLimit) clusters")
        }
        try use(leaves, isAggregate: isAggregate)
      }
    } catch { fail(error) }
  }

  private func use(_ leaves: [LeafConfig], isAggregate: Bool) throws(GRPCStatus) {
    let before = names
    names = [:]
    var children: [(name: String, policy: PolicyChoice)] = []
    var endpoints: [Endpoint] = []
    for leaf in leaves {
      let name = before[ExactText(leaf.cluster.name)] ?? nextName()
      names[ExactText(leaf.cluster.name)] = name
      let own = PolicyChoice(policy, leaf)
      guard let rules = leaf.cluster.outlierDetection else {
        children.append((name, own))
        continue
      }
      children.append((name, .outlierDetection(rules, over: own)))
      // It ejects servers of any priority.
      endpoints += leaf.servers(at: isAggregate ? name : nil)
    }
    let choice = isAggregate ? PolicyChoice.priority(children) : children.first?.policy
    if let choice { try child.update(endpoints, choice) }
  }

  private func nextName() -> String {
    lastName += 1
    return "cluster-\(lastName)"
  }

  /// Calls fail, and no server is kept for them.
  private func fail(_ status: GRPCStatus) {
    let old = child
    child = ChildBalancer(self)
    update(.transientFailure, ConstantPicker(.fail(status)))
    // Last, so that the calls that it returns find the new picker.
    old.shutDown()
  }

  func leaveIdle() { if state == .idle { child.leaveIdle() } }

  func shutDown() {
    child.shutDown()
    picker = ConstantPicker(.wait)
  }

  // MARK: For the policy

  func update(_ state: ConnectivityState, _ picker: any Picker) {
    let old = self.state
    self.state = state
    self.picker = picker
    changed(old, state)
  }

  func resolveAgain() { host.resolveAgain() }
}

extension LeafConfig {
  /// All servers, for a policy with this name among others.
  fileprivate func servers(at name: String?) -> [Endpoint] {
    var attributes = EndpointAttributes()
    attributes[EndpointPath.self] = name.map { [$0] }
    attributes[EndpointBackendService.self] = cluster.name
    return places.flatMap(\.allEndpoints)
      .map { Endpoint($0.addresses, attributes: attributes) }
  }
}

extension GRPCStatus {
  /// The reason may name the cluster itself.
  static func unusable(_ cluster: String, _ reason: String) -> GRPCStatus {
    let subject = "the cluster \(cluster.excerpt)"
    let message = reason.begins(with: subject + " ") ? reason : "\(subject): \(reason)"
    return GRPCStatus(code: .unavailable, message: message, origin: .library)
  }
}
