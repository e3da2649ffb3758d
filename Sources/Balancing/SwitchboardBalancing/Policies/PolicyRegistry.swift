import SwitchboardCall
import SwitchboardText

/// The policies that a channel knows: those of this module, and its own.
public struct PolicyRegistry: Sendable {
  /// Deeper nesting of policies is refused.
  private static let depthLimit = 16

  private static let known: [any LoadBalancingPolicy] = [
    PickFirst(), RoundRobin(), WeightedRoundRobin(), LeastRequest(), RingHash(), Priority(), WeightedTarget(),
    OutlierDetection(), RandomSubsetting(),
  ]

  /// Aliases: the names with or without gRPC's suffix `_experimental`.
  private static let aliases: [String: String] = [
    "least_request": "least_request_experimental",
    "outlier_detection": "outlier_detection_experimental",
    "priority": "priority_experimental",
    "random_subsetting_experimental": "random_subsetting",
    "ring_hash": "ring_hash_experimental",
    "weighted_target": "weighted_target_experimental",
  ]

  /// The channel's own.
  package let own: [any LoadBalancingPolicy]
  private let byName: [String: any LoadBalancingPolicy]
  private var depth = 0
  /// Follows what the policies read. `nil` for the outermost ones of a channel.
  var audit: ConfigAudit?

  /// Creates a registry. The policies in `own` replace built-in ones of the same names.
  public init(_ own: [any LoadBalancingPolicy] = []) {
    self.own = own
    byName = Dictionary((Self.known + own).map { ($0.name, $0) }) { $1 }
  }

  /// The names of its policies, sorted.
  package var names: [String] { byName.keys.sorted() }

  /// What may be meant by a name that is unknown.
  private var candidates: [String] { names + Self.aliases.keys.sorted() }

  /// The first of these policies that is known, with its parsed configuration. Throws `INVALID_ARGUMENT` if none is
  /// known, or if the configuration is invalid.
  public func choose(_ configs: [LoadBalancingConfig], at location: String) throws(GRPCStatus) -> PolicyChoice
  {
    let audit = audit ?? ConfigAudit()
    guard depth < Self.depthLimit else {
      let reason = "policies are nested deeper than \(Self.depthLimit)"
      try audit.refuse(ConfigFinding(path: location, reason: reason))
      return .standard
    }
    noteUnreachable(configs, at: location, audit)
    for (position, config) in configs.enumerated() {
      guard let policy = policy(named: config.policy) else { continue }
      note(configs[..<position], at: location, passedOverIn: audit)
      var inner = self
      inner.depth += 1
      inner.audit = audit
      let path = Self.path(of: config, position, at: location)
      var choice = try policy.choose(ConfigReader(config.members, at: path, audit: audit), inner)
      // The outermost one has those of all: each of many children would keep a copy.
      if depth == 0 { choice.findings = audit.findings }
      return choice
    }
    try refuse(unknown: configs, at: location, audit)
    return .standard
  }

  private func policy(named name: String) -> (any LoadBalancingPolicy)? {
    byName[name] ?? Self.aliases[name].flatMap { byName[$0] }
  }

  private static func path(of config: LoadBalancingConfig, _ position: Int, at location: String) -> String {
    config.path ?? ConfigPath.member(config.policy, of: "\(location)[\(position)]")
  }

  /// Notes policies that are unknown, before one that is known.
  private func note(
    _ configs: ArraySlice<LoadBalancingConfig>,
    at location: String,
    passedOverIn audit: ConfigAudit
  ) {
    let known = configs.isEmpty ? [] : candidates
    for (position, config) in configs.enumerated() {
      audit.skipped(config.policy, at: Self.path(of: config, position, at: location), known: known)
    }
  }

  /// The policies that each client of gRPC has, so that none after them is for a client that lacks them.
  private static let everywhere = ["pick_first", "round_robin"]

  /// Notes, for a check of the config, policies that no client uses.
  private func noteUnreachable(
    _ configs: [LoadBalancingConfig],
    at location: String,
    _ audit: ConfigAudit
  ) {
    guard audit.collectsMistakes,
      let last = configs.firstIndex(where: { config in
        Self.everywhere.contains { $0.isExactly(config.policy) }
      })
    else { return }
    for (position, config) in configs.enumerated().dropFirst(last + 1) {
      let path = Self.path(of: config, position, at: location)
      let reason = "is never used: it comes after \(configs[last].policy), which all clients have"
      audit.doubted(.doubt(path, reason))
    }
  }

  /// The policy that a service config chooses. `nil` if it names none. Throws as `choose(_:at:)` does.
  package func choose(for config: ServiceConfig?) throws(GRPCStatus) -> PolicyChoice? {
    guard let configs = config?.loadBalancing, !configs.isEmpty else { return nil }
    return try choose(configs, at: "loadBalancingConfig")
  }

  /// Refuses policies of which none is known.
  private func refuse(
    unknown configs: [LoadBalancingConfig],
    at location: String,
    _ audit: ConfigAudit
  ) throws(GRPCStatus) {
    guard !configs.isEmpty else {
      return try audit.refuse(ConfigFinding(path: location, reason: "there is no policy"))
    }
    let (known, candidates) = (names.joined(separator: ", "), candidates)
    for (position, config) in configs.enumerated() {
      var reason = "no load balancing policy has this name"
      let others = configs[(position + 1)...].prefix(8).map { $0.policy.excerpt }.joined(separator: ", ")
      if !others.isEmpty { reason += ", and none has one of the others: \(others)" }
      let finding = ConfigFinding(
        path: Self.path(of: config, position, at: location),
        name: config.policy,
        reason: "\(reason); known: \(known)",
        candidates: candidates
      )
      try audit.refuse(finding)
    }
  }
}

extension ConfigReader {
  /// The child of a policy that needs one.
  func requiredPolicy(_ name: String, _ choice: PolicyChoice?) throws(GRPCStatus) -> PolicyChoice {
    try required(name, choice, or: .standard)
  }
}

extension PolicyRegistry {
  /// The first known policy of those that a member of another policy's configuration lists, such as `childPolicy`.
  /// `nil` if there is no such member. Throws `INVALID_ARGUMENT` as `choose(_:at:)` does.
  public func choose(_ member: String, of reader: ConfigReader) throws(GRPCStatus) -> PolicyChoice? {
    let configs = try reader.policies(member)
    // All that there are may be known to be mistaken.
    if configs?.isEmpty ?? true, reader.hasMistake(in: member) { return .standard }
    guard let configs else { return nil }
    return try choose(configs, at: reader.path(member))
  }
}

/// A policy that was chosen, with its configuration.
public struct PolicyChoice: Sendable {
  /// The policy's name.
  public let name: String
  /// What has no effect in the configuration.
  package fileprivate(set) var findings: [ConfigFinding] = []
  fileprivate let config: any Hashable & Sendable
  fileprivate let make: @Sendable (any BalancerHost) -> any ErasedBalancer

  /// A policy with a configuration.
  public init<Policy: LoadBalancingPolicy>(_ policy: Policy, _ config: Policy.Balancer.Config) {
    name = policy.name
    self.config = config
    make = { BalancerBox(policy.makeBalancer($0)) }
  }
}

extension PolicyChoice {
  /// The policy of a channel without a service config.
  static var standard: PolicyChoice { PolicyChoice(PickFirst(), PickFirstBalancer.Config()) }
}

extension PolicyChoice: Hashable {
  public static func == (left: PolicyChoice, right: PolicyChoice) -> Bool {
    left.name == right.name && AnyHashable(left.config) == AnyHashable(right.config)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(AnyHashable(config))
  }
}

extension LoadBalancingPolicy {
  fileprivate func choose(_ reader: ConfigReader, _ policies: PolicyRegistry) throws(GRPCStatus)
    -> PolicyChoice
  {
    PolicyChoice(self, try readConfig(reader, policies))
  }
}

/// A balancer with an erased configuration type.
private protocol ErasedBalancer: AnyObject {
  func update(_ endpoints: [Endpoint], _ config: any Hashable & Sendable) throws(GRPCStatus)
  func resolverFailed(_ status: GRPCStatus)
  func leaveIdle()
  func shutDown()
}

private final class BalancerBox<Balancer: LoadBalancer>: ErasedBalancer {
  let balancer: Balancer

  init(_ balancer: Balancer) { self.balancer = balancer }

  func update(_ endpoints: [Endpoint], _ config: any Hashable & Sendable) throws(GRPCStatus) {
    guard let config = config as? Balancer.Config else { throw .foreignConfig }
    try balancer.update(endpoints, config)
  }

  func resolverFailed(_ status: GRPCStatus) { balancer.resolverFailed(status) }
  func leaveIdle() { balancer.leaveIdle() }
  func shutDown() { balancer.shutDown() }
}

/// The child of a channel or of another balancer. When the policy changes, the new one takes over once it is no longer
/// connecting, or once the old one is no longer ready.
///
/// The child's picker may be the child's policy, which refers to its host. So a host that stores the picker drops it when it
/// shuts the child down.
public final class ChildBalancer {
  // Weak, because the host usually owns this object. A child that runs retains the host.
  private weak var host: (any BalancerHost)?
  private var current: ChildHost?
  private var next: ChildHost?

  /// A child of `host`, which gets the child's states and pickers.
  public init(_ host: any BalancerHost) { self.host = host }

  /// Passes endpoints on. Starts the policy if another one is in use.
  public func update(_ endpoints: [Endpoint], _ choice: PolicyChoice) throws(GRPCStatus) {
    var child = next ?? current
    if child?.name != choice.name, let host {
      let new = ChildHost(host, choice) { [weak self] in self?.changed($0) }
      next?.shutDown()
      next = nil
      if current == nil { current = new } else { next = new }
      child = new
    }
    // A current policy that is not ready may report nothing more.
    defer { switchIfDue() }
    do throws(GRPCStatus) {
      try child?.balancer?.update(endpoints, choice.config)
    } catch {
      child?.refused(error)
      throw error
    }
  }

  /// Passes a failure on.
  public func resolverFailed(_ status: GRPCStatus) { (next ?? current)?.balancer?.resolverFailed(status) }

  /// Connects, if it is idle.
  public func leaveIdle() { (next ?? current)?.balancer?.leaveIdle() }

  /// Shuts the child down. It reports nothing more.
  public func shutDown() {
    next?.shutDown()
    current?.shutDown()
    (current, next) = (nil, nil)
  }

  /// `child` has a new state or picker.
  private func changed(_ child: ChildHost) {
    if switchIfDue() { return }
    if child === current, let picker = child.picker { host?.update(child.state, picker) }
  }

  /// Returns whether the next policy has taken over.
  @discardableResult
  private func switchIfDue() -> Bool {
    guard let next, next.state != .connecting || current?.state != .ready else { return false }
    let old = current
    current = next
    self.next = nil
    host?.update(next.state, next.picker ?? ConstantPicker(.wait))
    // Must come last, so that the new picker places the calls that wait for the old subchannels.
    old?.shutDown()
    return true
  }
}

/// The host of a child, which stores the child's latest state and picker. The child retains it, as any policy may: it is
/// still there when a report ends the child that made it.
private final class ChildHost: ForwardingHost {
  let name: String
  let host: any BalancerHost
  private let changed: (ChildHost) -> Void
  private(set) var balancer: (any ErasedBalancer)?
  private(set) var state = ConnectivityState.connecting
  private(set) var picker: (any Picker)?
  private var hasEnded = false

  init(_ host: any BalancerHost, _ choice: PolicyChoice, _ changed: @escaping (ChildHost) -> Void) {
    name = choice.name
    self.host = host
    self.changed = changed
    balancer = choice.make(self)
  }

  func update(_ state: ConnectivityState, _ picker: any Picker) {
    guard !hasEnded else { return }
    self.state = state
    self.picker = picker
    changed(self)
  }

  /// The policy has refused its endpoints. If it has never said what becomes of calls, they fail with the reason: they would wait
  /// for something that nobody announces.
  func refused(_ error: GRPCStatus) {
    guard picker == nil else { return }
    update(.transientFailure, ConstantPicker(.fail(.refused(by: name, error))))
  }

  func resolveAgain() { if !hasEnded { host.resolveAgain() } }

  /// A policy that was ended within one of its methods may still make subchannels, which nobody would shut down.
  func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel { hasEnded ? EndedSubchannel() : host.makeSubchannel(addresses, options, observer) }

  func shutDown() {
    hasEnded = true
    let balancer = balancer
    self.balancer = nil
    balancer?.shutDown()
    picker = nil
  }
}

extension GRPCStatus {
  fileprivate static func refused(by policy: String, _ error: GRPCStatus) -> GRPCStatus {
    GRPCStatus(
      code: .unavailable,
      message: "the policy \(policy.excerpt) refuses its servers: \(error.message ?? "\(error.code)")",
      origin: .library
    )
  }

  fileprivate static let foreignConfig = GRPCStatus(
    code: .internalError,
    message: "a load balancing policy got the configuration of another",
    origin: .library
  )
}
