import SwitchboardCall
import Testing

@testable import SwitchboardBalancing

@Suite
struct ChannelBalancerTests {
  private let owner = FakeOwner()
  private let resolver = FakeResolver()

  private func start(_ config: ServiceConfig? = nil) throws -> ChannelBalancer {
    let balancer = try ChannelBalancer(
      try Target("fake:///x", schemes: ["fake"], fallback: "fake"),
      resolver,
      BalancingOptions(),
      serviceConfig: config,
      eventLoop: owner.loop,
      time: owner.time
    )
    balancer.owner = owner
    balancer.leaveIdle()
    return balancer
  }

  private func report(_ result: ResolverResult) throws {
    try #require(resolver.starts.last).updates.report(result)
    owner.loop.run()
  }

  private func config(_ policy: String, _ members: [String: ConfigValue] = [:]) throws -> ServiceConfig {
    try ServiceConfig(loadBalancing: [LoadBalancingConfig(policy, members)])
  }

  @Test
  func fromIdleToReadyAndBack() throws {
    let balancer = try start()
    #expect(balancer.state == .connecting)
    try report(ResolverResult(endpoints: .numbers(0..<2)))
    try owner.host[0].set(.ready)
    #expect(balancer.state == .ready)
    #expect(balancer.policyName == "pick_first")
    #expect(balancer.picker.pick(FakeCall()).number == 0)
    balancer.goIdle()
    #expect(balancer.state == .idle)
    #expect(owner.host.open.isEmpty)
    #expect(resolver.starts[0].isStopped)
    // What the old resolution still says counts no more.
    resolver.starts[0].updates.report(ResolverResult(endpoints: .numbers(0..<2)))
    owner.loop.run()
    #expect(owner.host.open.isEmpty)
    #expect(balancer.picker.pick(FakeCall()).isWait)
    #expect(resolver.starts.count == 2)
    try report(ResolverResult(endpoints: .numbers(5..<6)))
    try owner.host[5].set(.ready)
    #expect(balancer.picker.pick(FakeCall()).number == 5)
  }

  /// A policy is made again whenever a channel has been idle.
  @Test
  func policiesWarnOnceForEachText() throws {
    let balancer = try start()
    for text in ["a", "b", "a"] { balancer.warn(text) }
    #expect(owner.warnings == ["a", "b"])
    for number in 0..<100 { balancer.warn("\(number)") }
    #expect(owner.warnings.count == 16)
    balancer.shutDown()
  }

  private final class NoRouter: CallRouter {
    func route(_ method: MethodDescriptor, _ metadata: HPACKHeaders) throws(GRPCStatus) -> CallRoute {
      CallRoute(to: "x")
    }
  }

  @Test
  func aRouterIsUsedOnceThePolicyHasItsEndpointsAndUntilTheChannelIsIdle() throws {
    let balancer = try start()
    var result = ResolverResult(endpoints: .numbers(0..<1))
    let router = NoRouter()
    result.router = router
    result.policy = PolicyChoice(RoundRobin(), RoundRobinBalancer.Config())
    try report(result)
    #expect(balancer.router === router && balancer.policyName == "round_robin" && owner.routers == [1])
    try report(result)
    #expect(owner.routers == [1] && owner.configs == 1)
    result.router = NoRouter()
    try report(result)
    #expect(owner.routers == [1, 1] && owner.configs == 1)
    balancer.goIdle()
    #expect(balancer.router == nil && owner.routers == [1, 1, 0])
    balancer.shutDown()
  }

  @Test
  func aBadConfigKeepsTheLastGoodOne() throws {
    let balancer = try start()
    let good = try config("round_robin")
    try report(ResolverResult(endpoints: .numbers(0..<2), serviceConfig: .success(good)))
    #expect(balancer.policyName == "round_robin")
    #expect(owner.configs == 1)
    let unreadable = GRPCStatus(code: .invalidArgument, message: "no JSON")
    for bad in [.failure(unreadable), .success(try config("unknown"))] as [Result<ServiceConfig?, GRPCStatus>]
    {
      try report(ResolverResult(endpoints: .numbers(0..<3), serviceConfig: bad))
      #expect(balancer.policyName == "round_robin")
      #expect(balancer.serviceConfig == good)
    }
    #expect(owner.host.open.count == 3)
    #expect(owner.warnings.count == 2)
    #expect(owner.configs == 1)
    try report(ResolverResult(endpoints: .numbers(0..<3)))
    #expect(balancer.policyName == "pick_first")
    #expect(owner.configs == 2)
  }

  /// gRPC requires that they are ignored.
  @Test
  func misspeltMembersAreReportedOnce() throws {
    let balancer = try start()
    let json = """
      {"methodConfig": [{"name": [{}], "waitForRaedy": true}],
       "loadBalancingConfig": [{"grpclb": {}}, {"ring_hash": {"minRingSise": 5}}]}
      """
    let config = try ServiceConfig(json: json)
    for count in 1...2 {
      try report(ResolverResult(endpoints: .numbers(0..<count), serviceConfig: .success(config)))
    }
    #expect(balancer.policyName == "ring_hash_experimental")
    #expect(owner.warnings.count == 2, "\(owner.warnings)")
    #expect(
      owner.warnings.first?.hasSuffix(
        "methodConfig[0].waitForRaedy: is unknown and ignored; known there: name, timeout, waitForReady, "
          + "maxRequestMessageBytes, maxResponseMessageBytes, retryPolicy, hedgingPolicy (did you mean waitForReady?)"
      ) == true
    )
    #expect(owner.warnings.last?.contains("loadBalancingConfig[1].ring_hash.minRingSise: is unknown") == true)
    #expect(owner.events.contains { $0.contains("[0].grpclb: no load balancing policy has this name") })
  }

  /// Also in a config that was not read from JSON.
  @Test
  func whatHasNoEffectIsReported() throws {
    let policy = try HedgingPolicy(maxAttempts: 9)
    let name = try MethodConfig.Name(service: "a.B")
    let config = try ServiceConfig(methodConfigs: [
      MethodConfig(names: []), MethodConfig(names: [name], repetition: .hedge(policy)),
      MethodConfig(names: [try MethodConfig.Name(service: "c.D")]),
    ])
    let balancer = try start(config)
    try report(ResolverResult(endpoints: .numbers(0..<1)))
    #expect(
      owner.warnings == [
        "the service config of fake:///x: methodConfig[0].name: is missing or empty, so this is for no method",
        "the service config of fake:///x: methodConfig[1].hedgingPolicy.maxAttempts: is 9: no more than 5 attempts "
          + "are made",
        "the service config of fake:///x: methodConfig[2]: has names, and nothing that would be for them",
      ]
    )
    balancer.shutDown()
  }

  /// Which policy there is, only the channel knows.
  @Test(arguments: [("round_robin", true), ("pick_first", false), (nil, false)])
  func aHealthCheckThatIsNotMadeIsReported(_ policy: String?, _ checks: Bool) throws {
    let policies = policy.map { [LoadBalancingConfig($0)] } ?? []
    let balancer = try start(ServiceConfig(loadBalancing: policies, healthCheckedService: "a.B"))
    try report(ResolverResult(endpoints: .numbers(0..<1)))
    let reason =
      "the service config of fake:///x: healthCheckConfig: has no effect with the policy pick_first; policies such "
      + "as round_robin check health"
    #expect(owner.warnings == (checks ? [] : [reason]))
    balancer.shutDown()
  }

  /// The channel's own policy is that of a config without one.
  @Test
  func aHealthCheckByTheChannelsPolicyIsNotReported() throws {
    let balancer = try start(config("round_robin"))
    let found = try ServiceConfig(healthCheckedService: "a.B")
    try report(ResolverResult(endpoints: .numbers(0..<1), serviceConfig: .success(found)))
    #expect(balancer.policyName == "round_robin" && owner.warnings.isEmpty, "\(owner.warnings)")
    balancer.shutDown()
  }

  @Test
  func theNumberOfReportsIsBounded() throws {
    let balancer = try start()
    let members = (0..<1000).map { #""m\#($0)": 1"# }.joined(separator: ", ")
    let config = try ServiceConfig(json: "{\(members)}")
    try report(ResolverResult(endpoints: .numbers(0..<1), serviceConfig: .success(config)))
    #expect(owner.warnings.count == 8)
    balancer.shutDown()
  }

  @Test
  func aFirstBadConfigFailsCalls() throws {
    let balancer = try start()
    let bad = try config("least_request", ["choiceCount": .number(0)])
    try report(ResolverResult(endpoints: .numbers(0..<2), serviceConfig: .success(bad)))
    #expect(balancer.state == .transientFailure)
    let failure = try #require(balancer.picker.pick(FakeCall()).failure)
    #expect(failure.code == .unavailable)
    #expect(failure.message?.contains("choiceCount") == true)
    #expect(owner.host.open.isEmpty)
    try report(ResolverResult(endpoints: .numbers(0..<2)))
    #expect(owner.host.open.count == 1)
  }

  @Test
  func theChannelsConfigAppliesIfTheNameHasNone() throws {
    let balancer = try start(try config("round_robin"))
    #expect(balancer.policyName == "round_robin")
    try report(ResolverResult(endpoints: .numbers(0..<2)))
    #expect(owner.host.open.count == 2)
    #expect(throws: GRPCStatus.self) { try start(try config("unknown")) }
  }

  @Test
  func endpointsAreBounded() throws {
    let balancer = try start(try config("round_robin"))
    let many = (0..<1000).map { EndpointAddress.number($0) }
    try report(ResolverResult(endpoints: (0..<70_000).map { .number($0) }))
    #expect(owner.host.open.count == ChannelBalancer.endpointLimit)
    #expect(owner.warnings.count == 1)
    try report(ResolverResult(endpoints: [Endpoint(many)]))
    #expect(owner.host.open.map(\.addresses.count) == [ChannelBalancer.addressLimit])
    balancer.shutDown()
    #expect(owner.host.open.isEmpty)
  }

  @Test
  func aResolverFailureFailsCallsOnlyWithoutEndpoints() throws {
    let balancer = try start()
    let failure = GRPCStatus(code: .unavailable, message: "no answer")
    try report(ResolverResult(failure: failure))
    #expect(balancer.picker.pick(FakeCall()).failure == failure)
    try report(ResolverResult(endpoints: .numbers(0..<1)))
    try owner.host[0].set(.ready)
    try report(ResolverResult(failure: failure))
    #expect(balancer.picker.pick(FakeCall()).number == 0)
    #expect(throws: Never.self) { try report(ResolverResult(endpoints: [])) }
    #expect(resolver.starts[0].requests == 1)
    #expect(balancer.picker.pick(FakeCall()).failure?.code == .unavailable)
  }

  @Test
  func aShutDownBalancerStaysShutDown() throws {
    let balancer = try start()
    try report(ResolverResult(endpoints: .numbers(0..<1)))
    balancer.shutDown()
    balancer.leaveIdle()
    try report(ResolverResult(endpoints: .numbers(0..<1)))
    #expect(balancer.state == .shutdown)
    #expect(owner.host.open.isEmpty)
    #expect(balancer.picker.pick(FakeCall()).failure == .channelShutDown)
  }
}

extension ServiceConfig {
  static var empty: ServiceConfig {
    guard let config = try? ServiceConfig() else { fatalError("a config without members is valid") }
    return config
  }
}

@Suite
struct PolledResolutionTests {
  private let owner = FakeOwner()

  private final class Lookups {
    var completions: [(PolledResolution.Answer) -> Void] = []
    var cancelled = 0
    var reported = 0

    final class Lookup: ScheduledAction {
      let lookups: Lookups
      init(_ lookups: Lookups) { self.lookups = lookups }
      func cancel() { lookups.cancelled += 1 }
    }

    func start(_ completion: @escaping (PolledResolution.Answer) -> Void) -> any ScheduledAction {
      completions.append(completion)
      return Lookup(self)
    }

    func finish(_ result: ResolverResult, timeToLive: Duration? = nil) {
      completions.last?(PolledResolution.Answer(result, timeToLive: timeToLive))
    }
  }

  private func start(_ lookups: Lookups) -> PolledResolution {
    let updates = ResolverUpdates(
      eventLoop: owner.loop,
      time: owner.time,
      pace: ResolutionPace(),
      receive: { _ in }
    )
    return PolledResolution(updates) { lookups.start($0) }
  }

  private let good = ResolverResult(endpoints: .numbers(0..<1))
  private let bad = ResolverResult(failure: GRPCStatus(code: .unavailable))

  @Test
  func resolvesAgainWhenAnAnswerExpires() {
    let lookups = Lookups()
    let resolution = start(lookups)
    lookups.finish(good, timeToLive: .seconds(60))
    owner.host.clock.advance(by: .seconds(59))
    #expect(lookups.completions.count == 1)
    owner.host.clock.advance(by: .seconds(1))
    #expect(lookups.completions.count == 2)
    // Never sooner than the shortest interval.
    lookups.finish(good, timeToLive: .seconds(1))
    owner.host.clock.advance(by: .seconds(29))
    #expect(lookups.completions.count == 2)
    owner.host.clock.advance(by: .seconds(1))
    #expect(lookups.completions.count == 3)
    resolution.stop()
    #expect(lookups.cancelled == 1)
    #expect(owner.host.clock.pending == 0)
  }

  @Test
  func failedLookupsAreRetriedWithBackoff() {
    let lookups = Lookups()
    let resolution = start(lookups)
    var waits: [Duration] = []
    for _ in 0..<12 {
      let count = lookups.completions.count
      lookups.finish(bad)
      let start = owner.host.clock.now
      while lookups.completions.count == count { owner.host.clock.advance(by: .milliseconds(100)) }
      waits.append(owner.host.clock.now - start)
    }
    #expect(waits[0] >= .milliseconds(800) && waits[0] <= .milliseconds(1300))
    #expect(waits[3] > waits[0] * 2)
    #expect(waits[11] >= .seconds(96) && waits[11] <= .seconds(145))
    lookups.finish(good)
    #expect(owner.host.clock.pending == 0)
    resolution.stop()
  }

  @Test
  func requestsToResolveAgainAreRateLimited() {
    let lookups = Lookups()
    let resolution = start(lookups)
    resolution.resolveAgain()
    #expect(lookups.completions.count == 1)
    lookups.finish(good)
    for _ in 0..<100 { resolution.resolveAgain() }
    #expect(lookups.completions.count == 1)
    owner.host.clock.advance(by: .milliseconds(1300))
    #expect(lookups.completions.count == 2)
    lookups.finish(good)
    // After a long time without, a request is served at once.
    owner.host.clock.advance(by: .seconds(300))
    resolution.resolveAgain()
    #expect(lookups.completions.count == 3)
    resolution.stop()
    lookups.finish(good)
    resolution.resolveAgain()
    owner.host.clock.advance(by: .seconds(300))
    #expect(lookups.completions.count == 3)
  }
}
