import CallTestSupport
import EchoService
import HTTP2TestSupport
import Switchboard
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Weak references. Used on a channel's loop.
private final class Traces: @unchecked Sendable {
  // Sendable because it is used only on the loop.
  private struct Trace {
    weak var object: AnyObject?
  }

  private var traces: [Trace] = []

  func add(_ object: AnyObject) { traces.append(Trace(object: object)) }

  /// Adds the subchannels with their connections.
  func add(subchannelsOf transport: HTTP2ClientTransport) {
    for subchannel in transport.subchannels.values {
      add(subchannel)
      for connection in subchannel.connections { add(connection) }
    }
  }

  /// The types of the objects that are alive.
  var alive: [String] { traces.compactMap { $0.object.map { "\(type(of: $0))" } } }
}

/// Objects that are no longer used do not stay in memory.
@Suite(.timeLimit(.minutes(2))) struct BalancingLeakTests {
  private static let policies = [
    #"{"pick_first": {"shuffleAddressList": true}}"#,
    #"{"round_robin": {}}"#,
    #"{"weighted_round_robin": {"enableOobLoadReport": true}}"#,
    #"{"least_request_experimental": {}}"#,
    #"{"ring_hash_experimental": {}}"#,
    #"{"random_subsetting": {"subsetSize": 2, "childPolicy": [{"round_robin": {}}]}}"#,
    #"""
    {"outlier_detection_experimental": {"successRateEjection": {}, "childPolicy": [{"weighted_round_robin": {}}]}}
    """#,
    #"""
    {"priority_experimental": {"priorities": ["a", "b"], "children": {
      "a": {"config": [{"round_robin": {}}]}, "b": {"config": [{"least_request_experimental": {}}]}}}}
    """#,
    #"""
    {"weighted_target_experimental": {"targets": {"a": {"weight": 1, "childPolicy": [{"ring_hash_experimental": {}}]},
      "b": {"weight": 2, "childPolicy": [{"priority_experimental": {"priorities": ["c"], "children": {
        "c": {"config": [{"round_robin": {}}]}}}}]}}}}
    """#,
  ]

  /// Assigns the endpoints to the children of the policies above.
  private func endpoints(_ replicas: Replicas) -> [Endpoint] {
    replicas.endpoints.enumerated().map { number, endpoint in
      var endpoint = endpoint
      endpoint.attributes[EndpointPath.self] = [number == 0 ? "a" : "b", "c"]
      return endpoint
    }
  }

  private func config(_ policy: String) -> Result<ServiceConfig?, GRPCStatus> {
    Result { () throws(GRPCStatus) in
      try ServiceConfig(
        json: #"{"loadBalancingConfig": [\#(policy)], "healthCheckConfig": {"serviceName": ""}}"#
      )
    }
  }

  @Test(arguments: policies.indices)
  func aReleasedChannelLeavesNothingBehind(_ policy: Int) async throws {
    try await Replicas.with(3) { replicas async throws in
      let resolver = ChangingResolver()
      resolver.report(
        ResolverResult(endpoints: endpoints(replicas), serviceConfig: config(Self.policies[policy]))
      )
      let traces = Traces()
      let loop = try await use(replicas, resolver, traces)
      await loop.until { traces.alive.isEmpty }
      #expect(await loop.onLoop { traces.alive } == [])
    }
  }

  /// Returns the loop of a channel that was used and released.
  private func use(_ replicas: Replicas, _ resolver: ChangingResolver, _ traces: Traces) async throws -> Loop
  {
    let client = try replicas.client(resolver)
    _ = try await client.counts(30)
    let transport = try #require(client.channel.transport as? HTTP2ClientTransport)
    await transport.loop.onLoop {
      traces.add(transport)
      traces.add(transport.balancer)
      traces.add(subchannelsOf: transport)
    }
    return transport.loop
  }

  @Test(arguments: policies.indices)
  func aReplacedPolicyLeavesNothingBehind(_ policy: Int) async throws {
    try await Replicas.with(3) { replicas async throws in
      let resolver = ChangingResolver()
      resolver.report(
        ResolverResult(endpoints: endpoints(replicas), serviceConfig: config(Self.policies[policy]))
      )
      let client = try replicas.client(resolver)
      let transport = try #require(client.channel.transport as? HTTP2ClientTransport)
      let traces = Traces()
      for other in [#"{"round_robin": {}}"#, #"{"least_request_experimental": {}}"#, Self.policies[policy]] {
        _ = try await client.counts(30)
        await transport.loop.onLoop { traces.add(subchannelsOf: transport) }
        resolver.report(ResolverResult(endpoints: endpoints(replicas), serviceConfig: config(other)))
      }
      resolver.report(ResolverResult(endpoints: [], serviceConfig: config(Self.policies[policy])))
      await transport.loop.until { transport.subchannels.isEmpty }
      await transport.loop.until { traces.alive.isEmpty }
      #expect(await transport.loop.onLoop { traces.alive } == [])
      #expect(await status { _ = try await client.counts(1) }?.code == .unavailable)
      #expect(await transport.loop.onLoop { transport.isUnused })
      await client.channel.shutDown(grace: .zero)
    }
  }
}
