import HTTP2TestSupport
import Switchboard
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Counts how often a call ends, and runs an action at its end.
final class Ends: ResponseReceiver {
  private let state = Locked<(count: Int, last: GRPCStatus?, action: (@Sendable () -> Void)?)>((0, nil, nil))

  var count: Int { state.withLock { $0.count } }
  var last: GRPCStatus? { state.withLock { $0.last } }
  /// Does nothing if the call has ended.
  func then(_ action: @escaping @Sendable () -> Void) {
    state.withLock { state in if state.count == 0 { state.action = action } }
  }

  var wantsMetadata: Bool { false }
  var wantsSent: Bool { false }
  func sent(_ part: SentPart) {}
  func responseWasCompressed() {}
  func receive(headers: HPACKHeaders) {}
  func decoder(for message: RawSpan) -> ResponseDecoder? { nil }
  func receive(message: RawSpan) {}

  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    let action = state.withLock { state in
      state.count += 1
      state.last = status
      // The action may retain the call, which retains this object.
      defer { state.action = nil }
      return state.action
    }
    action?()
  }
}

/// A policy whose balancer does not shut down its subchannels.
private struct Forgetful: LoadBalancingPolicy {
  let name = "test.forgetful"

  func readConfig(_ reader: ConfigReader, _ policies: PolicyRegistry) -> ForgetfulBalancer.Config {
    ForgetfulBalancer.Config()
  }

  func makeBalancer(_ host: any BalancerHost) -> ForgetfulBalancer { ForgetfulBalancer(host) }
}

private final class ForgetfulBalancer: LoadBalancer, SubchannelObserver {
  struct Config: Hashable, Sendable {}

  private weak var host: (any BalancerHost)?
  private var subchannels: [any Subchannel] = []

  init(_ host: any BalancerHost) { self.host = host }

  func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {
    for endpoint in endpoints {
      guard let made = host?.makeSubchannel(endpoint.addresses, SubchannelOptions(), self) else { continue }
      subchannels.append(made)
      made.connect()
    }
  }

  func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState) {
    if state.connectivity == .ready { host?.update(.ready, ConstantPicker(.subchannel(subchannel))) }
  }

  func resolverFailed(_ status: GRPCStatus) {}
  func leaveIdle() {}
  func shutDown() {}
}

@Suite(.timeLimit(.minutes(2))) struct WaitingLifeTests {
  private static let get = MethodDescriptor(service: "echo.Echo", method: "Get", type: .unary)

  private func request(waits: Bool) -> CallRequest {
    CallRequest(
      method: Self.get,
      options: CallOptions(waitForReady: waits),
      body: .message(BytesMarshaller().encode([]))
    )
  }

  /// The end of one waiting call cancels another, which is about to be placed.
  @Test func aCallCancelledWhileOthersArePlacedEndsOnce() async throws {
    try await Replicas.with(1) { replicas async throws in
      let resolver = ChangingResolver()
      var options = ChannelOptions()
      options.security = .plaintext
      options.resolvers = [resolver]
      let transport = try HTTP2ClientTransport(
        target: "static:///echo.example",
        options: options,
        group: LoopGroup()
      )
      let (first, second) = (Ends(), Ends())
      let calls = [
        transport.makeCall(request(waits: false), receiver: first),
        transport.makeCall(request(waits: true), receiver: second),
      ]
      first.then { calls[1].cancel(GRPCStatus(code: .cancelled)) }
      await transport.loop.onLoop { for call in calls { call.start() } }
      #expect(await transport.loop.onLoop { transport.waiting.count } == 2)
      resolver.report(ResolverResult(failure: GRPCStatus(code: .unavailable, message: "no directory")))
      await transport.loop.until { second.count == 1 }
      await transport.loop.onLoop {}
      #expect(first.count == 1)
      #expect(await transport.loop.onLoop { transport.waiting.count } == 0)
      resolver.report(ResolverResult(endpoints: replicas.endpoints))
      let third = Ends()
      let call = transport.makeCall(request(waits: true), receiver: third)
      call.start()
      await transport.loop.until { third.count == 1 }
      #expect(third.last?.code == .ok)
      #expect(second.count == 1)
      #expect(await transport.loop.onLoop { transport.isUnused })
      await transport.shutDown(grace: .zero)
    }
  }

  @Test func aPolicyThatForgetsItsSubchannelsDoesNotDelayShutdown() async throws {
    try await Replicas.with(2) { replicas async throws in
      let client = try replicas.client(policy: "test.forgetful") { $0.loadBalancingPolicies = [Forgetful()] }
      _ = try await client.counts(1)
      await client.channel.shutDown(grace: .milliseconds(10))
    }
  }
}
