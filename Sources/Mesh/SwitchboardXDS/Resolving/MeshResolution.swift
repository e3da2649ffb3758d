import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// A target that a control plane resolves, for one channel. Confined to the channel's loop.
final class MeshResolution: Resolution {
  private struct Lease {
    weak var value: ClusterLease?
  }

  /// The log says what a channel waits for after that.
  private static let patience = Duration.seconds(5)

  private let client: XDSClient
  private let updates: ResolverUpdates
  private let policy: ClusterManager
  private let names: any Resolver
  private let logger: Logger
  /// Whether the log says that the control plane wants another security than the channel has.
  private var hasWarned = false
  private var tree: DependencyTree
  private var watches: [ResourceKey: ResourceWatch] = [:]
  private var lookups: [EndpointAddress: any Resolution] = [:]
  private var leases: [ExactText: Lease] = [:]
  /// What the channel uses.
  private var used: DependencyTree.Outcome = .incomplete
  /// Many resources may come at once: what follows from them is done once.
  private var isDue = false
  private var pace = RefreshPace()
  private var timer: (any ScheduledAction)?
  /// What the first config needs, and when the log says so.
  private var awaited: String?
  private var patience: (any ScheduledAction)?
  private var isStopped = false
  private let channel = UInt64.random(in: 0...UInt64.max)

  /// Without contexts, the servers of all clusters are secured as the channel says. `names` looks names up.
  init(
    _ client: XDSClient,
    _ tree: DependencyTree,
    _ contexts: ClusterContexts?,
    names: any Resolver,
    _ updates: ResolverUpdates,
    _ logger: Logger
  ) {
    self.client = client
    self.names = names
    policy = ClusterManager(contexts: contexts) { [weak client] in client?.reporter($0) }
    self.tree = tree
    self.updates = updates
    self.logger = logger
  }

  /// The control plane reports changes by itself, but nobody does for names.
  func resolveAgain() { for lookup in lookups.values { lookup.resolveAgain() } }

  func stop() {
    isStopped = true
    timer?.cancel()
    patience?.cancel()
    watches = [:]
    for lookup in lookups.values { lookup.stop() }
    lookups = [:]
  }

  /// Watches what is needed, and gives the channel what is whole.
  func refresh() {
    (isDue, timer) = (false, nil)
    guard !isStopped else { return }
    pace.begins(at: updates.time.now)
    // The channel takes what is reported in between.
    defer { updates.eventLoop.execute { [box = LoopConfined(self)] in box.value?.refreshed() } }
    tree.lease(Set(leases.filter { $0.value.value != nil }.keys))
    var step = tree.resolve()
    while watch(step.watches) { step = tree.resolve() }
    lookUp(step.names)
    if used == .incomplete { noteGap(of: step) }
    guard step.outcome != .incomplete, step.outcome != used else { return }
    switch step.outcome {
    case .incomplete: break
    case .config(let config): use(config)
    case .failed(let reason): fail(.noConfig(reason))
    }
    used = step.outcome
  }

  /// Says what the first config needs.
  private func noteGap(of step: DependencyTree.Step) {
    awaited = step.outcome == .incomplete ? tree.gap(of: step).map(text) : nil
    guard let awaited else {
      patience?.cancel()
      return
    }
    updates.awaits(awaited)
    guard patience == nil else { return }
    patience = updates.time.schedule(after: Self.patience) { [weak self] in
      guard let self, let awaited = self.awaited else { return }
      logger.log(.warning, "the channel waits for \(awaited)")
    }
  }

  private func text(_ gap: DependencyTree.Gap) -> String {
    switch gap {
    case .name(let name): return "the servers of the name \(name)"
    case .resource(let key, let others):
      let server = client.controlPlane(of: key).map { " of the control plane \($0.excerpt)" } ?? ""
      return "the \(key)\(server)\(others > 0 ? ", and \(others) more" : "")"
    }
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

  private func lookUp(_ wanted: Set<EndpointAddress>) {
    for (name, lookup) in lookups where !wanted.contains(name) {
      lookups[name] = nil
      lookup.stop()
    }
    for name in wanted where lookups[name] == nil {
      let box = LoopConfined(self)
      let updates = ResolverUpdates(
        eventLoop: updates.eventLoop,
        time: updates.time,
        pace: updates.pace
      ) { result in
        box.value?.received(name, result)
      }
      lookups[name] = names.start(Target(dns: name), updates)
    }
  }

  private func received(_ name: EndpointAddress, _ result: ResolverResult) {
    guard lookups[name] != nil, tree.received(name, result.endpoints.map { EndpointsResource($0, of: name) })
    else {
      return
    }
    refreshSoon()
  }

  private func received(_ key: ResourceKey, _ update: ResourceUpdate) {
    guard watches[key] != nil, tree.received(key, update) else { return }
    refreshSoon()
  }

  private func refreshSoon() {
    guard !isDue, !isStopped else { return }
    isDue = true
    let wait = pace.wait(at: updates.time.now)
    guard wait == .zero else {
      timer = updates.time.schedule(after: wait) { [weak self] in self?.refresh() }
      return
    }
    updates.eventLoop.execute { [box = LoopConfined(self)] in box.value?.refresh() }
  }

  private func refreshed() { pace.ends(at: updates.time.now) }

  private func use(_ config: MeshConfig) {
    warn(about: config)
    var result = ResolverResult(endpoints: [])
    result.policy = PolicyChoice(policy, config.clusters)
    result.router = MeshRouter(
      config.host,
      config.filters,
      config.session,
      maxStreamDuration: config.maxStreamDuration,
      channel: channel
    ) { lease($0) }
    updates.report(result)
  }

  /// A mesh that counts on its certificates must not be left without them unnoticed.
  private func warn(about config: MeshConfig) {
    guard policy.contexts == nil, !hasWarned, let cluster = config.securedCluster else { return }
    hasWarned = true
    logger.log(
      .warning,
      "the control plane says how servers are secured, and the channel uses its own security: XDSResolver has "
        + "usesClusterSecurity for that",
      ["cluster": cluster.excerpt]
    )
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

extension EndpointsResource {
  /// All addresses of a name, as one server in one place (gRFCs A37 and A61).
  fileprivate init(_ found: [Endpoint], of name: EndpointAddress) {
    var server = Endpoint(Array(found.flatMap(\.addresses).prefix(ChannelBalancer.addressLimit)))
    server.attributes[EndpointHostName.self] = name.description
    let place = Place(name: Place.nowhere, weight: 1, endpoints: [server])
    self.init(priorities: server.addresses.isEmpty ? [] : [[place]], drops: [])
  }
}

extension GRPCStatus {
  fileprivate static func noConfig(_ reason: String) -> GRPCStatus {
    GRPCStatus(code: .unavailable, message: reason, origin: .library)
  }
}
