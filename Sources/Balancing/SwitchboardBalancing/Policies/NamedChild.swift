import SwitchboardCall

/// A named child of a policy, with its latest state and picker.
final class NamedChild: ForwardingHost {
  let name: String
  let host: any BalancerHost
  private let changed: (NamedChild) -> Void
  private lazy var balancer = ChildBalancer(self)
  private(set) var state = ConnectivityState.connecting
  private(set) var picker: any Picker = ConstantPicker(.wait)
  /// Whether this child's requests to resolve the name again are ignored.
  var ignoresResolveAgain = false
  let metrics: MetricScope?

  /// `label` is the label of the parent's metrics whose value is the name of the child.
  init(
    _ name: String,
    of parent: any BalancerHost,
    label: String? = nil,
    _ changed: @escaping (NamedChild) -> Void
  ) {
    self.name = name
    host = parent
    metrics = label.map { parent.metrics?.labelled($0, name) } ?? parent.metrics
    self.changed = changed
  }

  func update(_ endpoints: [Endpoint], _ choice: PolicyChoice) throws(GRPCStatus) {
    try balancer.update(endpoints, choice)
  }

  func resolverFailed(_ status: GRPCStatus) { balancer.resolverFailed(status) }
  func leaveIdle() { balancer.leaveIdle() }

  func shutDown() {
    balancer.shutDown()
    // It may be the child's policy, which refers to its host.
    picker = ConstantPicker(.wait)
  }

  func update(_ state: ConnectivityState, _ picker: any Picker) {
    self.state = state
    self.picker = picker
    changed(self)
  }

  func resolveAgain() { if !ignoresResolveAgain { host.resolveAgain() } }
}

extension [Endpoint] {
  /// Groups the endpoints by the first name of their paths, and removes that name. Endpoints without a path are left
  /// out.
  var byChild: [String: [Endpoint]] {
    var children: [String: [Endpoint]] = [:]
    for endpoint in self {
      guard let path = endpoint.attributes[EndpointPath.self], let name = path.first else { continue }
      var inner = endpoint
      inner.attributes[EndpointPath.self] = [String](path.dropFirst())
      children[name, default: []].append(inner)
    }
    return children
  }
}
