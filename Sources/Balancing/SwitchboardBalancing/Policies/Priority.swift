import SwitchboardCall
import SwitchboardText

/// Calls go to the first of several children that works (`priority_experimental`, gRFC A56).
struct Priority: LoadBalancingPolicy {
  var name: String { "priority_experimental" }

  func readConfig(
    _ reader: ConfigReader,
    _ policies: PolicyRegistry
  ) throws(GRPCStatus) -> PriorityBalancer.Config {
    var config = PriorityBalancer.Config()
    for (name, child) in try reader.children("children") ?? [] {
      let policy = try child.requiredPolicy("config", try policies.choose("config", of: child))
      var ignores = try child.bool("ignoreReresolutionRequests")
      if ignores == nil { ignores = try child.bool("ignore_reresolution_requests") }
      config.children[name] = PriorityBalancer.Child(policy: policy, ignoresResolveAgain: ignores ?? false)
    }
    var seen: Set<String> = []
    for (position, name) in try reader.stringsByPosition("priorities") ?? [] {
      guard config.children[name] != nil else {
        try reader.refuse("priorities[\(position)]", "no child has this name")
        continue
      }
      guard seen.insert(name).inserted else {
        try reader.refuse("priorities[\(position)]", "the child is listed twice")
        continue
      }
      config.priorities.append(name)
    }
    for name in config.children.keys.sorted()
    where !seen.contains(name) && !reader.hasMistake(in: "priorities") {
      reader.note([.doubt("children.\(name.excerpt)", "is not one of the priorities, so it gets no calls")])
    }
    if config.priorities.isEmpty { reader.note([.doubt("priorities", "has no child, so each call fails")]) }
    return config
  }

  func makeBalancer(_ host: any BalancerHost) -> PriorityBalancer { PriorityBalancer(host) }
}

extension PolicyChoice {
  /// Calls go to the first of several children that works. The paths of endpoints begin with the names of these.
  package static func priority(_ children: [(name: String, policy: PolicyChoice)]) -> PolicyChoice {
    var config = PriorityBalancer.Config()
    for (name, policy) in children {
      config.children[name] = PriorityBalancer.Child(policy: policy)
      config.priorities.append(name)
    }
    return PolicyChoice(Priority(), config)
  }
}

/// The balancer of `priority_experimental`.
final class PriorityBalancer: LoadBalancer {
  struct Child: Hashable, Sendable {
    var policy: PolicyChoice
    var ignoresResolveAgain = false
  }

  struct Config: Hashable, Sendable {
    var children: [String: Child] = [:]
    /// The names of the children, the preferred one first.
    var priorities: [String] = []
  }

  private let host: any BalancerHost
  private var config: Config?
  private var endpoints = EndpointParts()
  /// The children that have been needed so far.
  private var children: [String: PriorityChild] = [:]
  private var current: String?
  private var isUpdating = false

  init(_ host: any BalancerHost) { self.host = host }

  func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {
    self.config = config
    self.endpoints = EndpointParts(endpoints)
    isUpdating = true
    var failure: GRPCStatus?
    let priorities = Set(config.priorities)
    for (name, child) in children {
      if priorities.contains(name) {
        failure = update(child) ?? failure
      } else {
        // Removed at once. Otherwise a resolver that keeps finding new names would fill the memory.
        children[name] = nil
        child.shutDown()
      }
    }
    isUpdating = false
    failure = choose() ?? failure
    if let failure { throw failure }
  }

  /// Passes the child's part of the latest update on. Returns the error if the child rejects it.
  private func update(_ child: PriorityChild) -> GRPCStatus? {
    let name = child.named.name
    guard let settings = config?.children[name] else { return nil }
    child.named.ignoresResolveAgain = settings.ignoresResolveAgain
    do throws(GRPCStatus) {
      try child.named.update(endpoints, settings.policy)
      return nil
    } catch {
      return error
    }
  }

  func resolverFailed(_ status: GRPCStatus) {
    guard config != nil else { return host.update(.transientFailure, ConstantPicker(.fail(status))) }
    for child in children.values { child.named.resolverFailed(status) }
  }

  func leaveIdle() { if let current { children[current]?.named.leaveIdle() } }

  func shutDown() {
    for child in children.values { child.shutDown() }
    children = [:]
    config = nil
  }

  /// Selects the first child that is ready, idle or still connecting, and starts children where needed. Returns the
  /// error if one of these rejects its endpoints.
  @discardableResult
  private func choose() -> GRPCStatus? {
    // Reports that arrive while a child is being started are processed afterwards.
    guard !isUpdating, let config else { return nil }
    isUpdating = true
    defer { isUpdating = false }
    guard !config.priorities.isEmpty else {
      current = nil
      host.update(.transientFailure, ConstantPicker(.fail(.noPriorities)))
      return nil
    }
    var failure: GRPCStatus?
    for (position, name) in config.priorities.enumerated() {
      // A report of the previous child may have ended the balancer. Nobody would shut another child down.
      guard self.config != nil else { return failure }
      let child: PriorityChild
      if let known = children[name] {
        child = known
        child.reactivate()
      } else {
        child = makeChild(name)
        failure = update(child) ?? failure
      }
      let works = child.named.state == .ready || child.named.state == .idle
      guard works || child.mayStillConnect else { continue }
      if works { for other in config.priorities[(position + 1)...] { deactivate(other) } }
      use(child)
      return failure
    }
    let connecting = config.priorities.lazy.compactMap { self.children[$0] }
      .first { $0.named.state == .connecting }
    if let child = connecting ?? config.priorities.last.flatMap({ children[$0] }) { use(child) }
    return failure
  }

  private func use(_ child: PriorityChild) {
    current = child.named.name
    host.update(child.named.state, child.named.picker)
  }

  private func makeChild(_ name: String) -> PriorityChild {
    let child = PriorityChild(name, of: host) { [weak self] in self?.choose() }
    children[name] = child
    return child
  }

  private func deactivate(_ name: String) {
    children[name]?.deactivate { [weak self] in self?.children[name] = nil }
  }
}

/// A child of `priority`, with its timers.
private final class PriorityChild {
  /// How long a child may try to connect before the next is tried.
  private static let failoverTime = Duration.seconds(10)
  /// How long an unneeded child is kept.
  private static let retention = Duration.seconds(15 * 60)

  let named: NamedChild
  private let host: any BalancerHost
  private let changed: () -> Void
  private var failover: (any ScheduledAction)?
  private var removal: (any ScheduledAction)?
  /// Whether the child was ready or idle since its last failure.
  private var hasWorked = true
  private var lastState = ConnectivityState.connecting

  init(_ name: String, of host: any BalancerHost, _ changed: @escaping () -> Void) {
    self.host = host
    self.changed = changed
    let report = Weak<PriorityChild>()
    named = NamedChild(name, of: host) { _ in report.value?.stateChanged() }
    report.value = self
    startFailover()
  }

  /// Whether the child is connecting and its failover time has not passed.
  var mayStillConnect: Bool { failover != nil }

  private func stateChanged() {
    let old = lastState
    lastState = named.state
    switch named.state {
    case .ready, .idle:
      hasWorked = true
      stopFailover()
    case .transientFailure, .shutdown:
      hasWorked = false
      stopFailover()
    case .connecting:
      if old != .connecting, hasWorked { startFailover() }
    }
    changed()
  }

  private func startFailover() {
    guard failover == nil else { return }
    failover = host.time.schedule(after: Self.failoverTime) { [weak self] in
      self?.failover = nil
      self?.changed()
    }
  }

  private func stopFailover() {
    failover?.cancel()
    failover = nil
  }

  /// Removes the child after the retention time, unless it is needed before.
  func deactivate(_ removed: @escaping () -> Void) {
    guard removal == nil else { return }
    removal = host.time.schedule(after: Self.retention) { [weak self] in
      self?.shutDown()
      removed()
    }
  }

  func reactivate() {
    removal?.cancel()
    removal = nil
  }

  func shutDown() {
    stopFailover()
    reactivate()
    named.shutDown()
  }
}

/// A weak reference for closures that are made before the object that they refer to.
private final class Weak<Value: AnyObject> {
  weak var value: Value?
}

extension GRPCStatus {
  fileprivate static let noPriorities = GRPCStatus(
    code: .unavailable,
    message: "priority has no children",
    origin: .library
  )
}
