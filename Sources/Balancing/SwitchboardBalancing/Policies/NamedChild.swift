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

  /// Passes its part of some endpoints on. Errors name the child. If its parent's endpoints are for no child at all, calls
  /// fail with this reason, and not as if there were no endpoints.
  func update(_ endpoints: EndpointParts, _ choice: PolicyChoice) throws(GRPCStatus) {
    do throws(GRPCStatus) {
      try balancer.update(endpoints[name], choice)
    } catch {
      if endpoints.areForNone { balancer.resolverFailed(.endpointsForNone) }
      throw (endpoints.areForNone ? .endpointsForNone : error).of(child: name)
    }
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

/// Endpoints by the first name of their paths, without that name. Endpoints without a path are left out.
struct EndpointParts {
  private let parts: [String: [Endpoint]]
  /// Whether there are endpoints, and none has a path.
  let areForNone: Bool

  init(_ endpoints: [Endpoint] = []) {
    // Neighbors are mostly for the same child.
    var (parts, name, part): ([String: [Endpoint]], String, [Endpoint]) = ([:], "", [])
    endpoints.forEachRun { outer, run in
      guard let path = outer[EndpointPath.self], let next = path.first else { return }
      if name != next {
        if !part.isEmpty { parts[name, default: []] += part }
        (name, part) = (next, [])
      }
      var inner = outer
      inner[EndpointPath.self] = [String](path.dropFirst())
      part.append(run, of: endpoints, with: inner)
    }
    if !part.isEmpty { parts[name, default: []] += part }
    self.parts = parts
    areForNone = parts.isEmpty && !endpoints.isEmpty
  }

  subscript(name: String) -> [Endpoint] { parts[name] ?? [] }
}

extension GRPCStatus {
  /// The status with the name of the child from which it comes.
  fileprivate func of(child name: String) -> GRPCStatus {
    GRPCStatus(code: code, message: "child \(name): \(message ?? "")", origin: origin)
  }

  fileprivate static let endpointsForNone = GRPCStatus(
    code: .unavailable,
    message: "the resolver's endpoints have no EndpointPath, which names the child that an endpoint is for",
    origin: .user
  )
}
