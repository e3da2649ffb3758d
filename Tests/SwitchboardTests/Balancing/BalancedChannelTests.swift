import CallTestSupport
import EchoService
import HTTP2TestSupport
import Switchboard
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct BalancedChannelTests {
  @Test func roundRobinSpreadsCallsEvenly() async throws {
    try await Replicas.with(3) { replicas async throws in
      let client = try replicas.client()
      try await client.warmUp(3)
      #expect(try await client.counts(300) == ["replica 0": 100, "replica 1": 100, "replica 2": 100])
      await client.channel.shutDown(grace: .zero)
    }
  }

  @Test func withoutAPolicyOneServerGetsAll() async throws {
    try await Replicas.with(3) { replicas async throws in
      let client = try replicas.client(config: "{}")
      #expect(try await client.counts(30) == ["replica 0": 30])
      await client.channel.shutDown(grace: .zero)
    }
  }

  /// The call is repeated although its server is connected and answers: with a failure.
  @Test func aRetryPrefersAnotherServer() async throws {
    try await Replicas.with(3) { replicas async throws in
      let client = try replicas.client(
        config: """
          {"loadBalancingConfig": [{"round_robin": {}}], "methodConfig": [{"name": [{}], "retryPolicy": {
            "maxAttempts": 2, "initialBackoff": "0.001s", "maxBackoff": "0.001s", "backoffMultiplier": 1,
            "retryableStatusCodes": ["UNAVAILABLE"]}}]}
          """
      )
      try await client.warmUp(3)
      replicas.providers[0].refuses = true
      let counts = try await client.counts(60)
      #expect(counts["replica 0"] == nil)
      #expect(counts.values.reduce(0, +) == 60)
      await client.channel.shutDown(grace: .zero)
    }
  }

  @Test func aServerThatDrainsLosesNoCall() async throws {
    try await Replicas.with(3) { replicas async throws in
      let client = try replicas.client()
      try await client.warmUp(3)
      let calls = Task {
        try await withThrowingTaskGroup { group in
          for _ in 0..<16 { group.addTask { try await client.counts(200) } }
          return try await group.reduce(0) { $0 + $1.values.reduce(0, +) }
        }
      }
      try await client.warmUp(3)
      await replicas.servers[1].shutDown(grace: .seconds(60))
      #expect(try await calls.value == 3200)
      #expect(try await client.counts(20) == ["replica 0": 10, "replica 2": 10])
      await client.channel.shutDown(grace: .zero)
    }
  }

  @Test func callsFailWhileNoServerCanBeReached() async throws {
    try await Replicas.with(2) { replicas async throws in
      let client = try replicas.client()
      try await client.warmUp(2)
      await replicas.shutDown()
      let failure = await status { _ = try await client.counts(1000) }
      #expect(failure?.code == .unavailable)
      await client.channel.shutDown(grace: .zero)
    }
  }

  @Test func anIdleChannelDisconnectsAndReconnects() async throws {
    try await Replicas.with(2) { replicas async throws in
      let client = try replicas.client { $0.idleTimeout = .seconds(60) }
      try await client.warmUp(2)
      let loop = try #require(client.channel.eventLoop as? Loop)
      while !Task.isCancelled, await client.channel.snapshot()?.state != .idle {
        await loop.advance(by: .seconds(61))
      }
      await client.channel.until { $0.subchannels.isEmpty }
      try await client.warmUp(2)
      await client.channel.shutDown(grace: .zero)
    }
  }
}

/// A resolver whose answers a test changes.
final class ChangingResolver: Resolver {
  let schemes = ["static"]
  private let state = Locked<(updates: ResolverUpdates?, result: ResolverResult?)>((nil, nil))

  func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
    let result = state.withLock { state in
      state.updates = updates
      return state.result
    }
    if let result { updates.report(result) }
    return TaskResolution(Task {})
  }

  func report(_ result: ResolverResult) {
    let updates = state.withLock { state in
      state.result = result
      return state.updates
    }
    updates?.report(result)
  }
}

@Suite(.timeLimit(.minutes(5))) struct ResolvedConfigTests {
  private func config(_ json: String) -> Result<ServiceConfig?, GRPCStatus> {
    Result { () throws(GRPCStatus) in try ServiceConfig(json: json) }
  }

  @Test func newEndpointsReplaceOldOnes() async throws {
    try await Replicas.with(3) { replicas async throws in
      let resolver = ChangingResolver()
      resolver.report(ResolverResult(endpoints: Array(replicas.endpoints.prefix(2))))
      let client = try replicas.client(resolver)
      try await client.warmUp(2)
      #expect(try await client.counts(20) == ["replica 0": 10, "replica 1": 10])
      resolver.report(ResolverResult(endpoints: Array(replicas.endpoints.suffix(1))))
      while try await client.counts(1) != ["replica 2": 1] {}
      #expect(try await client.counts(20) == ["replica 2": 20])
      await client.channel.shutDown(grace: .zero)
    }
  }

  @Test func theFirstCallWaitsForItsConfig() async throws {
    try await Replicas.with(1) { replicas async throws in
      let resolver = ChangingResolver()
      let client = try replicas.client(resolver)
      let call = Task { await status { _ = try await client.counts(1) } }
      // A call of 0 bytes is too large for this limit only if the config was known in time.
      let limited = config(#"{"methodConfig": [{"name": [{}], "maxRequestMessageBytes": 1}]}"#)
      resolver.report(ResolverResult(endpoints: replicas.endpoints, serviceConfig: limited))
      #expect(await call.value?.code == .resourceExhausted)
      await client.channel.shutDown(grace: .zero)
    }
  }

  @Test func aBadConfigKeepsTheLastGoodOne() async throws {
    try await Replicas.with(1) { replicas async throws in
      let resolver = ChangingResolver()
      let limited = config(#"{"methodConfig": [{"name": [{}], "maxRequestMessageBytes": 1}]}"#)
      resolver.report(ResolverResult(endpoints: replicas.endpoints, serviceConfig: limited))
      let client = try replicas.client(resolver)
      #expect(await status { _ = try await client.counts(1) }?.code == .resourceExhausted)
      for bad in [#"{"methodConfig": 1}"#, #"{"loadBalancingConfig": [{"unknown": {}}]}"#] {
        resolver.report(ResolverResult(endpoints: replicas.endpoints, serviceConfig: config(bad)))
        #expect(await status { _ = try await client.counts(1) }?.code == .resourceExhausted)
      }
      resolver.report(ResolverResult(endpoints: replicas.endpoints, serviceConfig: config("{}")))
      while await status(of: { _ = try await client.counts(1) }) != nil {}
      await client.channel.shutDown(grace: .zero)
    }
  }

  @Test func aBadFirstConfigFailsCalls() async throws {
    try await Replicas.with(1) { replicas async throws in
      let resolver = ChangingResolver()
      resolver.report(ResolverResult(endpoints: replicas.endpoints, serviceConfig: config("nonsense")))
      let client = try replicas.client(resolver)
      let failure = await status { _ = try await client.counts(1) }
      #expect(failure?.code == .unavailable)
      #expect(failure?.message?.contains("service config") == true)
      await client.channel.shutDown(grace: .zero)
    }
  }

  @Test func aNameThatCannotBeResolvedFailsCalls() async throws {
    try await Replicas.with(1) { replicas async throws in
      let resolver = ChangingResolver()
      let reason = GRPCStatus(code: .unavailable, message: "the directory is down")
      resolver.report(ResolverResult(failure: reason))
      let client = try replicas.client(resolver)
      #expect(await status { _ = try await client.counts(1) } == reason)
      let patient = Task { try await client.counts(1, CallOptions(waitForReady: true)) }
      resolver.report(ResolverResult(endpoints: replicas.endpoints))
      #expect(try await patient.value == ["replica 0": 1])
      // Known endpoints stay.
      resolver.report(ResolverResult(failure: reason))
      #expect(try await client.counts(1) == ["replica 0": 1])
      await client.channel.shutDown(grace: .zero)
    }
  }

  /// The transport does not have these calls yet, but must not consider itself unused.
  @Test func aChannelWithCallsThatWaitForTheirConfigStaysAwake() async throws {
    try await Replicas.with(1) { replicas async throws in
      let resolver = ChangingResolver()
      let client = try replicas.client(resolver) { $0.idleTimeout = .seconds(60) }
      let transport = try #require(client.channel.transport as? HTTP2ClientTransport)
      let loop = try #require(client.channel.eventLoop as? Loop)
      let call = Task { try await client.counts(1) }
      await client.channel.until { $0.state == .connecting }
      while !Task.isCancelled, transport.resolvedConfig?.isAwaited != true { await Task.yield() }
      for _ in 0..<3 { await loop.advance(by: .seconds(61)) }
      #expect(await client.channel.snapshot()?.state == .connecting)
      resolver.report(ResolverResult(endpoints: replicas.endpoints))
      #expect(try await call.value == ["replica 0": 1])
      await client.channel.shutDown(grace: .zero)
    }
  }

  @Test func anIdleChannelForgetsItsFailure() async throws {
    try await Replicas.with(1) { replicas async throws in
      let resolver = ChangingResolver()
      resolver.report(
        ResolverResult(failure: GRPCStatus(code: .unavailable, message: "the directory is down"))
      )
      let client = try replicas.client(resolver) { $0.idleTimeout = .seconds(60) }
      let loop = try #require(client.channel.eventLoop as? Loop)
      #expect(await status { _ = try await client.counts(1) }?.code == .unavailable)
      while !Task.isCancelled, await client.channel.snapshot()?.state != .idle {
        await loop.advance(by: .seconds(61))
      }
      resolver.report(ResolverResult(endpoints: replicas.endpoints))
      #expect(try await client.counts(1) == ["replica 0": 1])
      await client.channel.shutDown(grace: .zero)
    }
  }

  @Test func aCallThatWaitsForItsConfigKeepsTheLoopAlive() async throws {
    try await Replicas.with(1) { replicas async throws in
      let resolver = ChangingResolver()
      let group = try LoopGroup()
      var options = ChannelOptions()
      options.security = .plaintext
      options.resolvers = [resolver]
      let client = Echo_EchoClient(
        channel: try Channel(target: "static:///echo.example", options: options, group: group)
      )
      let transport = try #require(client.channel.transport as? HTTP2ClientTransport)
      let call = Task { try await client.counts(1) }
      while !Task.isCancelled, transport.resolvedConfig?.isAwaited != true { await Task.yield() }
      await group.loops[0].onLoop {}
      group.shutDown()
      try await Task.sleep(for: .milliseconds(50))
      resolver.report(ResolverResult(endpoints: replicas.endpoints))
      #expect(try await call.value == ["replica 0": 1])
      await client.channel.shutDown(grace: .zero)
      let late = await status { _ = try await client.counts(1) }
      #expect(late?.code == .unavailable)
    }
  }
}
