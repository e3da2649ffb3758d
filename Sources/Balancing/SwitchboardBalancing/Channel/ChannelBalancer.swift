import SwitchboardCall

/// The transport to which a channel's balancer belongs.
package protocol ChannelBalancerOwner: AnyObject {
  func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel

  /// The state or the picker has changed.
  func balancerChanged()

  /// The service config has changed. It is the resolver's or the channel's own.
  func serviceConfigChanged()

  /// Another router decides about calls; `nil`: calls wait until there is one.
  func routerChanged()

  /// Resolving the name failed, or its result cannot be used, and there is no earlier result.
  func resolvingFailed(_ status: GRPCStatus)

  /// The first result of the resolver still needs this.
  func resolvingAwaits(_ what: String)

  /// Reports an event that an operator should know about.
  func balancerReports(_ event: String, isWarning: Bool)
}

/// What became of the service configs that a channel's resolver has found.
package struct FoundConfigs: Sendable {
  /// Whether the one in use is the resolver's.
  package fileprivate(set) var isUsed = false
  /// Why the last one was refused that could not be used, and when.
  package fileprivate(set) var refused: (reason: GRPCStatus, time: ContinuousClock.Instant)?
}

/// Resolves a channel's target, and passes the endpoints to the policy that makes the picker.
///
/// ```
///   idle ──a call, connect()──> resolving ──endpoints──> balancing
///     ^                             │                       │
///     └────────── no calls for a while, `goIdle` ───────────┘
/// ```
package final class ChannelBalancer: BalancerHost {
  /// How many endpoints, and addresses of each, are used of a resolver's result.
  package static let endpointLimit = 65_536
  package static let addressLimit = 256

  /// Set once, before anything else is called.
  package weak var owner: (any ChannelBalancerOwner)?
  private let eventLoop: any EventLoop
  package let time: any BalancerTime
  private let target: Target
  private let resolver: any Resolver
  private let pace: ResolutionPace
  /// The channel's own, in place of what the resolver does not find.
  private let own: (config: ServiceConfig?, policy: PolicyChoice)
  package let policies: PolicyRegistry
  package let metrics: MetricScope?

  private var resolution: (any Resolution)?
  /// The number of the resolver's current start. Reports of earlier ones are ignored.
  private var start = 0
  private var child: ChildBalancer?
  private var active: (config: ServiceConfig?, policy: PolicyChoice)?
  package private(set) var foundConfigs = FoundConfigs()
  /// Decides about calls, if the resolver routes them.
  package private(set) var router: (any CallRouter)?
  private var isShutDown = false
  private var generator = SystemRandomNumberGenerator()
  /// What policies have warned of.
  private var warnings: [String] = []
  private static let mostWarnings = 16

  package private(set) var state = ConnectivityState.idle
  package private(set) var picker: any Picker = ConstantPicker(.wait)

  /// Throws `INVALID_ARGUMENT` if the channel's own service config names no known policy, or if the pace breaks a rule.
  package init(
    _ target: Target,
    _ resolver: any Resolver,
    _ options: BalancingOptions,
    serviceConfig: ServiceConfig?,
    eventLoop: any EventLoop,
    time: any BalancerTime,
    metrics: MetricScope? = nil
  ) throws(GRPCStatus) {
    try options.pace.checkRules()
    self.metrics = metrics
    self.eventLoop = eventLoop
    self.time = time
    self.target = target
    self.resolver = resolver
    pace = options.pace
    policies = PolicyRegistry(options.policies)
    own = (serviceConfig, try policies.choose(for: serviceConfig) ?? .standard)
    goIdle()
  }

  /// The service config in use: the resolver's or else the channel's.
  package var serviceConfig: ServiceConfig? { active.map(\.config) ?? own.config }

  /// The name of the policy in use.
  package var policyName: String { (active?.policy ?? own.policy).name }

  /// Whether the resolver is running and no endpoints are known yet. Targets that consist of addresses need no
  /// resolving.
  package var isResolving: Bool { child == nil && resolution.map { !($0 is FinishedResolution) } ?? false }

  /// Starts resolving or, if the policy has become idle, connecting.
  package func leaveIdle() {
    guard !isShutDown, state == .idle else { return }
    guard resolution == nil else {
      child?.leaveIdle()
      return
    }
    start += 1
    let number = start
    update(.connecting, ConstantPicker(.wait))
    let updates = ResolverUpdates(
      eventLoop: eventLoop,
      time: time,
      pace: pace,
      metrics: metrics,
      policies: policies,
      wait: { [box = LoopConfined(self)] what in box.value?.during(number) { $0.owner?.resolvingAwaits(what) }
      },
      receive: { [box = LoopConfined(self)] result in box.value?.during(number) { $0.received(result) } }
    )
    resolution = resolver.start(target, updates)
  }

  /// Does what a start of the resolver says, unless it has ended.
  private func during(_ start: Int, _ body: (ChannelBalancer) -> Void) {
    if self.start == start, resolution != nil { body(self) }
  }

  /// Stops resolving and shuts down all subchannels until the next call.
  package func goIdle() {
    stop()
    update(.idle, WakingPicker { [weak self] in self?.leaveIdle() })
  }

  package func shutDown() {
    isShutDown = true
    state = .shutdown
    // Set before the subchannels shut down, so that the calls that they return end.
    picker = ConstantPicker(.drop(.channelShutDown))
    stop()
  }

  private func stop() {
    resolution?.stop()
    resolution = nil
    child?.shutDown()
    child = nil
    active = nil
    foundConfigs.isUsed = false
    guard router != nil else { return }
    router = nil
    owner?.routerChanged()
  }

  // MARK: What the resolver reports

  package func received(_ result: ResolverResult) {
    switch result.endpoints {
    case .failure(let status): fail(status)
    case .success(let endpoints):
      do throws(GRPCStatus) {
        try use(result)
      } catch {
        foundConfigs.refused = (error, .now)
        owner?.balancerReports("the service config of \(target.text) is invalid: \(error)", isWarning: true)
        guard active != nil else { return fail(.unusableConfig(error)) }
      }
      hand(bounded(endpoints))
      // Last, so that the policy knows where the new routes lead.
      use(result.router)
    }
  }

  private func fail(_ status: GRPCStatus) {
    owner?.balancerReports("cannot resolve \(target.text): \(status)", isWarning: true)
    if let child { return child.resolverFailed(status) }
    update(.transientFailure, ConstantPicker(.fail(status)))
    owner?.resolvingFailed(status)
  }

  /// Throws, and changes nothing, if the config is invalid.
  private func use(_ result: ResolverResult) throws(GRPCStatus) {
    let resolved = try result.serviceConfig.get()
    let config = resolved ?? own.config
    let named = result.policy == nil ? try policies.choose(for: config) : result.policy
    let policy = named ?? own.policy
    let isNew = active == nil || active?.config != config
    if isNew { report(config, policy) }
    if active?.policy.name != policy.name {
      owner?.balancerReports("the policy is \(policy.name)", isWarning: false)
    }
    active = (config, policy)
    foundConfigs.isUsed = resolved != nil
    if isNew { owner?.serviceConfigChanged() }
  }

  private func use(_ router: (any CallRouter)?) {
    guard router !== self.router, active != nil else { return }
    self.router = router
    owner?.routerChanged()
  }

  /// Logs what has no effect in a config.
  private func report(_ config: ServiceConfig?, _ policy: PolicyChoice) {
    for remark in config?.remarks ?? [] {
      owner?.balancerReports("the service config of \(target.text): \(remark)", isWarning: true)
    }
    let health = config?.doubtOfHealthCheck(with: policy).map { [$0] } ?? []
    for finding in (health + policy.findings).prefix(ConfigFinding.mostReported) {
      owner?.balancerReports("the service config of \(target.text): \(finding)", isWarning: finding.isMistake)
    }
  }

  private func bounded(_ endpoints: [Endpoint]) -> [Endpoint] {
    if endpoints.count > Self.endpointLimit {
      owner?.balancerReports(
        "\(target.text) has \(endpoints.count) endpoints, of which \(Self.endpointLimit) are used",
        isWarning: true
      )
    }
    return endpoints.prefix(Self.endpointLimit).map { endpoint in
      guard endpoint.addresses.count > Self.addressLimit else { return endpoint }
      return Endpoint(Array(endpoint.addresses.prefix(Self.addressLimit)), attributes: endpoint.attributes)
    }
  }

  private func hand(_ endpoints: [Endpoint]) {
    guard let policy = active?.policy else { return }
    let child = child ?? ChildBalancer(self)
    self.child = child
    do throws(GRPCStatus) {
      try child.update(endpoints, policy)
    } catch {
      owner?.balancerReports("the policy \(policy.name) rejects what was resolved: \(error)", isWarning: true)
      resolveAgain()
    }
  }

  // MARK: For the policy

  package func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel { owner?.makeSubchannel(addresses, options, observer) ?? EndedSubchannel() }

  package func update(_ state: ConnectivityState, _ picker: any Picker) {
    guard !isShutDown else { return }
    self.state = state
    self.picker = picker
    owner?.balancerChanged()
  }

  package func resolveAgain() { resolution?.resolveAgain() }
  package func random() -> UInt64 { generator.next() }

  package func warn(_ text: String) {
    guard !isShutDown, warnings.count < Self.mostWarnings, !warnings.contains(text) else { return }
    warnings.append(text)
    owner?.balancerReports(text, isWarning: true)
  }
}

extension GRPCStatus {
  package static let channelShutDown = endOfChannel("the channel was shut down")

  package static let channelReleased = endOfChannel(
    "the channel was released: keep it, or a client that has it, while calls are made"
  )

  fileprivate static func unusableConfig(_ reason: GRPCStatus) -> GRPCStatus {
    GRPCStatus(
      code: .unavailable,
      message: "the name's service config is invalid: \(reason.message ?? "\(reason.code)")",
      origin: .library
    )
  }
}
