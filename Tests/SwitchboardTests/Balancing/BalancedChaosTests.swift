import HTTP2TestSupport
import Switchboard
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Everything that may happen to a channel, in random order. Each call must end once, and nothing may be left behind.
@Suite(.timeLimit(.minutes(3))) struct BalancedChaosTests {
  /// Pseudorandom numbers from a seed.
  private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state ^ state >> 29) &* 0x9E37_79B9_7F4A_7C15
    }
  }

  private struct Call {
    let call: any ByteCall
    let ends: Ends
  }

  private static let method = MethodDescriptor(service: "echo.Echo", method: "Get", type: .unary)

  private func config(_ dice: inout Dice) -> Result<ServiceConfig?, GRPCStatus> {
    let policies = [
      #"{"pick_first": {}}"#, #"{"round_robin": {}}"#,
      #"{"weighted_round_robin": {"enableOobLoadReport": true}}"#,
      #"{"least_request": {}}"#, #"{"ring_hash": {}}"#, #"{"ring_hash": {"requestHashHeader": "key"}}"#,
      #"{"outlier_detection": {"failurePercentageEjection": {}, "childPolicy": [{"round_robin": {}}]}}"#,
      #"{"priority": {"priorities": ["a"], "children": {"a": {"config": [{"ring_hash": {}}]}}}}"#,
    ]
    let policy = policies.randomElement(using: &dice) ?? ""
    let health = Bool.random(using: &dice) ? #", "healthCheckConfig": {"serviceName": ""}"# : ""
    return Result { () throws(GRPCStatus) in
      try ServiceConfig(json: #"{"loadBalancingConfig": [\#(policy)]\#(health)}"#)
    }
  }

  private func result(_ replicas: Replicas, _ dice: inout Dice) -> ResolverResult {
    if Int.random(in: 0..<6, using: &dice) == 0 {
      return ResolverResult(failure: GRPCStatus(code: .unavailable, message: "no directory"))
    }
    var endpoints = replicas.endpoints.filter { _ in Bool.random(using: &dice) }
    for index in endpoints.indices { endpoints[index].attributes[EndpointPath.self] = ["a"] }
    // Nothing listens there.
    if Bool.random(using: &dice) { endpoints.append(Endpoint([.ipv4(0x7F00_0001, port: 1)])) }
    return ResolverResult(endpoints: endpoints.shuffled(using: &dice), serviceConfig: config(&dice))
  }

  @Test(arguments: 0..<24)
  func everyCallEndsOnce(_ seed: UInt64) async throws {
    var dice = Dice(state: seed)
    try await Replicas.with(4) { replicas async throws in
      let resolver = ChangingResolver()
      var options = ChannelOptions()
      options.security = .plaintext
      options.resolvers = [resolver]
      options.connectInitialBackoff = .milliseconds(5)
      options.connectMaxBackoff = .milliseconds(20)
      options.maxConcurrentStreams = 2
      options.maxConnections = 2
      options.idleTimeout = .seconds(60)
      options.maxWaitingCalls = 40
      let transport = try HTTP2ClientTransport(
        target: "static:///echo.example",
        options: options,
        group: LoopGroup()
      )
      let loop = transport.loop
      var calls: [Call] = []
      for _ in 0..<300 {
        switch Int.random(in: 0..<12, using: &dice) {
        case 0..<5:
          for _ in 0..<Int.random(in: 1..<12, using: &dice) { calls.append(start(transport, &dice)) }
        case 5: resolver.report(result(replicas, &dice))
        case 6:
          for call in calls.suffix(20) where Bool.random(using: &dice) {
            call.call.cancel(.init(code: .cancelled))
          }
        case 7:
          // The end of a call cancels others, on the loop.
          let others = calls.suffix(10).map(\.call)
          calls.last?.ends.then { for other in others { other.cancel(GRPCStatus(code: .cancelled)) } }
        case 8:
          let kill = Bool.random(using: &dice)
          await loop.onLoop {
            for subchannel in transport.subchannels.values {
              for connection in subchannel.connections {
                if kill { connection.close(.connectionLost) } else { connection.retire() }
              }
            }
          }
        case 9: await loop.advance(by: .milliseconds(Int.random(in: 1..<30, using: &dice)))
        case 10: await loop.onLoop { transport.connect() }
        default:
          if Int.random(in: 0..<4, using: &dice) == 0 { await loop.advance(by: .seconds(61)) }
        }
        let even = await loop.onLoop { transport.waiting.count >= 0 && transport.calls.inProgress >= 0 }
        #expect(even)
      }
      // Calls that wait for a server get one.
      resolver.report(ResolverResult(endpoints: replicas.endpoints))
      if Bool.random(using: &dice) {
        await transport.shutDown(grace: .milliseconds(50))
      } else {
        while !Task.isCancelled, !calls.allSatisfy({ $0.ends.count > 0 }) {
          await loop.advance(by: .milliseconds(100))
        }
        #expect(await loop.onLoop { transport.isUnused })
        await transport.shutDown(grace: .zero)
      }
      let all = calls
      await loop.until { all.allSatisfy { $0.ends.count > 0 } }
      await loop.onLoop {}
      #expect(calls.allSatisfy { $0.ends.count == 1 })
      let (waiting, open, left) = await loop.onLoop {
        (transport.waiting.count, transport.calls.inProgress, transport.subchannels.count)
      }
      #expect(waiting == 0)
      #expect(open == 0)
      #expect(left == 0)
      await loop.until { loop.openHandles == 0 }
    }
  }

  private func start(_ transport: HTTP2ClientTransport, _ dice: inout Dice) -> Call {
    var options = CallOptions(waitForReady: Bool.random(using: &dice))
    options.initialMetadata = ["key": "\(UInt8.random(in: 0...9, using: &dice))"]
    var request = CallRequest(
      method: Self.method,
      options: options,
      body: .message(BytesMarshaller().encode([]))
    )
    if Bool.random(using: &dice) {
      let timeout = Duration.milliseconds(Int.random(in: 0..<50, using: &dice))
      request.deadline = transport.loop.clock.deadline(after: timeout)
    }
    let ends = Ends()
    let call = Call(call: transport.makeCall(request, receiver: ends), ends: ends)
    call.call.start()
    return call
  }
}
