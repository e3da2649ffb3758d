import CallTestSupport
import HTTP2TestSupport
import Switchboard
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Servers that misbehave towards channels that watch their health.
@Suite(.timeLimit(.minutes(2)), .mayBlock) struct ServerWatchTests {
  private typealias Kind = FramePeer.Kind

  private func channel(_ listener: FrameListener, _ change: (inout ChannelOptions) -> Void = { _ in }) throws
    -> Channel
  {
    var options = ChannelOptions()
    options.security = .plaintext
    options.resolvers = [
      StaticResolver([Endpoint([.ipv4(0x7F00_0001, port: UInt16(clamping: listener.port))])])
    ]
    options.serviceConfig = try ServiceConfig(
      json: #"{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": "shop"}}"#
    )
    change(&options)
    return try Channel(target: "static:///shop", options: options)
  }

  private static let get = Method(
    MethodDescriptor(service: "shop.Shop", method: "Get", type: .unary),
    requests: BytesMarshaller(),
    responses: BytesMarshaller()
  )

  /// Starts a call on the channel's loop, because the test's thread runs the server.
  private func call(_ channel: Channel) -> Task<GRPCStatus, Never> {
    Task(executorPreference: channel.eventLoop) {
      do {
        _ = try await MethodCall(Self.get, on: channel).unary([])
        return .ok
      } catch { return GRPCStatus(describing: error) }
    }
  }

  /// The stream of the next request, which must be for this path.
  private func request(_ peer: FramePeer, _ path: String) -> UInt32? {
    while let frame = peer.next() {
      if frame.type == Kind.headers {
        return peer.inflate(frame.payload)[":path"] == path ? frame.stream : nil
      }
    }
    return nil
  }

  private let watch = "/grpc.health.v1.Health/Watch"
  private let path = "/shop.Shop/Get"

  private func head(_ peer: FramePeer, _ stream: UInt32) {
    peer.headers(stream, [(":status", "200"), ("content-type", "application/grpc")])
  }

  private func say(_ peer: FramePeer, _ stream: UInt32, serves: Bool) {
    peer.data(stream, [0, 0, 0, 0, 2, 8, serves ? 1 : 2])
  }

  private func answer(_ peer: FramePeer, _ stream: UInt32) {
    head(peer, stream)
    peer.data(stream, [0, 0, 0, 0, 0])
    peer.headers(stream, [("grpc-status", "0")], ends: true)
  }

  @Test func theWatchMovesToTheRemainingConnection() async throws {
    let listener = try FrameListener(patience: 20)
    let channel = try channel(listener)
    let first = call(channel)
    let one = listener.accept()
    // One call besides the watch.
    one.send(Kind.settings, 0, 0, [0, 3, 0, 0, 0, 2])
    let watched = try #require(request(one, watch))
    head(one, watched)
    say(one, watched, serves: true)
    let held = try #require(request(one, path))
    let second = call(channel)
    let two = listener.accept()
    answer(two, try #require(request(two, path)))
    #expect(await second.value == .ok)
    // The first connection becomes unhealthy and goes away; the second stays.
    say(one, watched, serves: false)
    #expect(one.settle())
    answer(one, held)
    #expect(await first.value == .ok)
    one.send(Kind.goAway, 0, 0, FramePeer.number(held) + FramePeer.number(0))
    let again = try #require(request(two, watch))
    head(two, again)
    say(two, again, serves: true)
    #expect(two.settle())
    let third = call(channel)
    answer(two, try #require(request(two, path)))
    #expect(await third.value == .ok)
    await channel.shutDown(grace: .zero)
  }

  /// An answered watch does not count as a served call.
  @Test func watchesOfAServerWithoutCallsAreDelayed() async throws {
    let listener = try FrameListener(patience: 20)
    let channel = try channel(listener) { $0.connectInitialBackoff = .milliseconds(300) }
    channel.connect()
    let clock = ContinuousClock()
    var start = clock.now
    for number in 0..<4 {
      let peer = listener.accept()
      if number == 1 { start = clock.now }
      let stream = try #require(request(peer, watch))
      head(peer, stream)
      say(peer, stream, serves: true)
      #expect(peer.settle())
    }
    #expect(clock.now - start > .milliseconds(450))
    await channel.shutDown(grace: .zero)
  }

  @Test func aWatchThatFailsAtOnceIsRetried() async throws {
    let listener = try FrameListener(patience: 20)
    let channel = try channel(listener) { $0.connectInitialBackoff = .milliseconds(10) }
    channel.connect()
    // The server's limit allows no headers at all.
    let one = FramePeer(serving: listener.acceptRaw(), settings: [0, 6, 0, 0, 0, 0])
    #expect(one.settle())
    let transport = try #require(channel.transport as? HTTP2ClientTransport)
    one.send(Kind.settings, 0, 0, [0, 6, 0, 1, 0, 0])
    let stream = try #require(request(one, watch))
    head(one, stream)
    say(one, stream, serves: true)
    #expect(one.settle())
    let answered = call(channel)
    answer(one, try #require(request(one, path)))
    #expect(await answered.value == .ok)
    #expect(await transport.loop.onLoop { transport.isUnused })
    await channel.shutDown(grace: .zero)
  }

  /// gRPC does so too. A server that ends each stream after a message must not cause one after the other.
  @Test func aWatchThatWorkedIsOpenedAgainAtOnce() async throws {
    let listener = try FrameListener(patience: 20)
    let channel = try channel(listener) {
      $0.connectInitialBackoff = .seconds(3600)
      $0.connectMaxBackoff = .seconds(3600)
      $0.idleTimeout = nil
    }
    channel.connect()
    let peer = listener.accept()
    let transport = try #require(channel.transport as? HTTP2ClientTransport)
    for _ in 0..<2 {
      let stream = try #require(request(peer, watch))
      head(peer, stream)
      say(peer, stream, serves: true)
      await transport.loop.until { transport.state == .ready }
      peer.headers(stream, [("grpc-status", "14")], ends: true)
      await transport.loop.until { transport.state != .ready }
    }
    // Timers that are due run.
    await transport.loop.advance(by: .seconds(1))
    #expect(await transport.loop.onLoop { transport.subchannels.values.first?.healthWatch?.call == nil })
    await transport.loop.advance(by: .seconds(2 * 3600))
    #expect(request(peer, watch) != nil)
    await channel.shutDown(grace: .zero)
  }

  /// A server may be asked on each connection, and a connection may end with each call.
  @Test func theLogSaysOnceThatHealthIsUnknown() async throws {
    let listener = try FrameListener(patience: 20)
    let log = LogEntries()
    let channel = try channel(listener) {
      $0.logger = Logger(log, minimumLevel: .warning)
    }
    for _ in 0..<3 {
      let answered = call(channel)
      let peer = listener.accept()
      peer.headers(
        try #require(request(peer, watch)),
        [(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "12")],
        ends: true
      )
      let asked = try #require(request(peer, path))
      answer(peer, asked)
      #expect(await answered.value == .ok)
      peer.send(Kind.goAway, 0, 0, FramePeer.number(asked) + FramePeer.number(0))
    }
    #expect(log.all.count == 1)
    #expect(log.all.first?.message.hasSuffix("has no health service: it counts as healthy") == true)
    await channel.shutDown(grace: .zero)
  }

  /// Each stream has a task that reads its messages, which must end with it.
  @Test func aStreamThatEndsIsForgotten() async throws {
    let listener = try FrameListener(patience: 20)
    let channel = try channel(listener) { $0.connectInitialBackoff = .milliseconds(10) }
    channel.connect()
    let peer = listener.accept()
    let transport = try #require(channel.transport as? HTTP2ClientTransport)
    let stream = try #require(request(peer, watch))
    let trace = Trace()
    await transport.loop.onLoop {
      trace.pipe = transport.subchannels.values.first?.healthWatch?.call?.flow?.pipe
      trace.wasThere = trace.pipe != nil
    }
    #expect(trace.wasThere)
    head(peer, stream)
    peer.headers(stream, [("grpc-status", "14")], ends: true)
    #expect(request(peer, watch) != nil)
    await transport.loop.until { trace.pipe == nil }
    #expect(trace.pipe == nil)
    await channel.shutDown(grace: .zero)
  }

  private final class Trace: @unchecked Sendable {
    // Sendable because the loop writes it before the test reads it.
    weak var pipe: MessagePipe?
    var wasThere = false
  }
}
