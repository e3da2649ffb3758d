import SwitchboardCall

/// Calls are divided among children in proportion to their weights (`weighted_target_experimental`, gRFC A28).
struct WeightedTarget: LoadBalancingPolicy {
  var name: String { "weighted_target_experimental" }

  func readConfig(
    _ reader: ConfigReader,
    _ policies: PolicyRegistry
  ) throws(GRPCStatus) -> WeightedTargetBalancer.Config {
    var config = WeightedTargetBalancer.Config()
    for (name, target) in try reader.required("targets", try reader.children("targets"), or: []) {
      let weights = 1...ConfigLimit.count
      let weight = try target.required("weight", try target.count("weight", in: weights))
      let policy = try target.requiredPolicy("childPolicy", try policies.choose("childPolicy", of: target))
      config.targets.append(WeightedTargetBalancer.Target(name: name, weight: weight, policy: policy))
    }
    if config.targets.isEmpty { reader.note([.doubt("targets", "has no child, so each call fails")]) }
    return config
  }

  func makeBalancer(_ host: any BalancerHost) -> WeightedTargetBalancer { WeightedTargetBalancer(host) }
}

/// The balancer of `weighted_target_experimental`.
final class WeightedTargetBalancer: LoadBalancer {
  struct Target: Hashable, Sendable {
    var name: String
    /// From 1 to the largest `UInt32`.
    var weight: Int
    var policy: PolicyChoice
  }

  struct Config: Hashable, Sendable {
    /// Sorted by name. Names are unique.
    var targets: [Target] = []
  }

  private final class Child {
    let named: NamedChild
    var weight = 0
    /// The child's state. A child that failed counts as failed until it is ready.
    var state = ConnectivityState.connecting

    init(_ named: NamedChild) { self.named = named }
  }

  private let host: any BalancerHost
  private var children: [String: Child] = [:]
  /// The names of the children in the order of the configuration.
  private var order: [String] = []
  private var isUpdating = false
  /// A child's report may end the balancer within its own update.
  private var hasEnded = false

  init(_ host: any BalancerHost) { self.host = host }

  func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {
    isUpdating = true
    let parts = EndpointParts(endpoints)
    var gone = children
    var failure: GRPCStatus?
    order = config.targets.map(\.name)
    for target in config.targets {
      // Nobody would shut another child down.
      guard !hasEnded else { return }
      gone[target.name] = nil
      let child = children[target.name] ?? makeChild(target.name)
      child.weight = target.weight
      do throws(GRPCStatus) {
        try child.named.update(parts, target.policy)
      } catch {
        failure = failure ?? error
      }
    }
    for (name, child) in gone {
      children[name] = nil
      child.named.shutDown()
    }
    isUpdating = false
    publish()
    if let failure { throw failure }
  }

  private func makeChild(_ name: String) -> Child {
    let child = Child(
      NamedChild(name, of: host, label: MetricLabel.locality) { [weak self] in self?.changed($0) }
    )
    children[name] = child
    return child
  }

  func resolverFailed(_ status: GRPCStatus) {
    guard !children.isEmpty else { return host.update(.transientFailure, ConstantPicker(.fail(status))) }
    for child in children.values { child.named.resolverFailed(status) }
  }

  func leaveIdle() {
    for child in children.values where child.named.state == .idle { child.named.leaveIdle() }
  }

  func shutDown() {
    hasEnded = true
    for child in children.values { child.named.shutDown() }
    children = [:]
  }

  private func changed(_ named: NamedChild) {
    guard let child = children[named.name] else { return }
    if child.state != .transientFailure || named.state == .ready { child.state = named.state }
    if !isUpdating { publish() }
    // An idle child gets no calls while others are ready, so connect it here.
    if named.state == .idle { named.leaveIdle() }
  }

  private func publish() {
    var counts = StateCounts()
    for child in children.values { counts.move(from: nil, to: child.state) }
    let state = counts.combined
    guard !children.isEmpty else {
      return host.update(.transientFailure, ConstantPicker(.fail(.noTargets)))
    }
    guard state != .connecting else { return host.update(state, ConstantPicker(.wait)) }
    var pickers: [(picker: any Picker, weight: Int)] = []
    for name in order {
      if let child = children[name], child.state == state {
        pickers.append((child.named.picker, child.weight))
      }
    }
    host.update(state, WeightedPicker(pickers, seed: host.random()))
  }
}

/// Divides calls among pickers at random, in proportion to weights.
private final class WeightedPicker: Picker {
  private let pickers: [any Picker]
  /// The sum of the weights up to each picker.
  private var sums: [Int] = []
  private var random: QuickRandom

  /// `pickers` must not be empty. Weights have at most 32 bits, so no sum overflows.
  init(_ pickers: [(picker: any Picker, weight: Int)], seed: UInt64) {
    self.pickers = pickers.map(\.picker)
    random = QuickRandom(seed: seed)
    var sum = 0
    for (_, weight) in pickers {
      sum += weight
      sums.append(sum)
    }
  }

  func pick(_ call: any CallToPick) -> Pick {
    guard let sum = sums.last else { return .wait }
    let point = random.next(below: sum)
    var low = 0
    var high = sums.count - 1
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] > point { high = middle } else { low = middle + 1 }
    }
    return pickers[low].pick(call)
  }
}

extension GRPCStatus {
  fileprivate static let noTargets = GRPCStatus(
    code: .unavailable,
    message: "weighted_target has no targets",
    origin: .library
  )
}
