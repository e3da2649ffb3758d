import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// A target that a control plane resolves, for one channel. Confined to the channel's loop.
final class MeshResolution: Resolution {
  private struct Lease {
    weak var value: ClusterLease?
  }

  private let client: XDSClient
  private let updates: ResolverUpdates
  private let policy: ClusterManager
  private var tree: DependencyTree
  private var watches: [ResourceKey: ResourceWatch] = [:]
  private var leases: [ExactText: Lease] = [:]
  /// What the channel uses.
  private var used: DependencyTree.Outcome = .incomplete
  /// Many resources may come at once: what follows from them is done once.
  private var isDue = false
  private var isStopped = false
  private let channel = UInt64.random(in: 0...UInt64.max)

  /// Without contexts, the servers of all clusters are secured as the channel says.
  init(
    _ client: XDSClient,
    _ tree: DependencyTree,
    _ contexts: ClusterContexts?,
    _ updates: ResolverUpdates
  ) {
    self.client = client
    policy = ClusterManager(contexts: contexts)
    self.tree = tree
    self.updates = updates
  }

  /// The control plane reports changes by itself.
  func resolveAgain() {}

  func stop() {
    isStopped = true
    watches = [:]
  }

  /// Watches what is needed, and gives the channel what is whole.
  func refresh() {
    isDue = false
    guard !isStopped else { return }
    tree.lease(Set(leases.filter { $0.value.value != nil }.keys))
    var (wanted, outcome) = tree.resolve()
    while watch(wanted) { (wanted, outcome) = tree.resolve() }
    guard outcome != .incomplete, outcome != used else { return }
    switch outcome {
    case .incomplete: break
    case .config(let config): use(config)
    case .failed(let reason): fail(.noConfig(reason))
    }
    used = outcome
  }

  /// Returns whether something cannot be watched, which changes what is known.
  private func watch(_ wanted: Set<ResourceKey>) -> Bool {
    for key in watches.keys where !wanted.contains(key) { watches[key] = nil }
    var failed = false
    for key in wanted where watches[key] == nil {
      do throws(GRPCStatus) {
        let (box, loop) = (LoopConfined(self), updates.eventLoop)
        watches[key] = try client.watch(key) { update in
          loop.execute { box.value?.received(key, update) }
        }
      } catch {
        watches[key] = ResourceWatch {}
        failed = tree.received(key, .resource(.failure(error))) || failed
      }
    }
    return failed
  }

  private func received(_ key: ResourceKey, _ update: ResourceUpdate) {
    guard watches[key] != nil, tree.received(key, update) else { return }
    refreshSoon()
  }

  private func refreshSoon() {
    guard !isDue, !isStopped else { return }
    isDue = true
    updates.eventLoop.execute { [box = LoopConfined(self)] in box.value?.refresh() }
  }

  private func use(_ config: MeshConfig) {
    var result = ResolverResult(endpoints: [])
    result.policy = PolicyChoice(policy, config.clusters)
    result.router = MeshRouter(config.host, maxStreamDuration: config.maxStreamDuration, channel: channel) {
      lease($0)
    }
    updates.report(result)
  }

  /// Before there was a config, calls may wait for one; after that, what was used is used no more.
  private func fail(_ status: GRPCStatus) {
    guard case .config = used else { return updates.report(ResolverResult(failure: status)) }
    var result = ResolverResult(endpoints: [])
    result.policy = PolicyChoice(policy, [:])
    result.router = FailingRouter(status)
    updates.report(result)
  }

  private func lease(_ name: String) -> ClusterLease {
    let name = ExactText(name)
    if let known = leases[name]?.value { return known }
    let (box, loop) = (LoopConfined(self), updates.eventLoop)
    let made = ClusterLease { loop.execute { box.value?.leaseEnded(name) } }
    leases[name] = Lease(value: made)
    return made
  }

  private func leaseEnded(_ name: ExactText) {
    guard leases[name]?.value == nil else { return }
    leases[name] = nil
    refreshSoon()
  }
}

extension GRPCStatus {
  fileprivate static func noConfig(_ reason: String) -> GRPCStatus {
    GRPCStatus(code: .unavailable, message: reason, origin: .library)
  }
}
