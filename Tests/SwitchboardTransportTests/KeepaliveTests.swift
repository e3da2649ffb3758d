import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite(.mayBlock) struct KeepaliveTests {
  private let second: UInt64 = 1_000_000_000

  @Test func aSilentPeerIsPingedAndThenDisconnected() {
    var keepalive = Keepalive(interval: .seconds(10), timeout: .seconds(2))
    #expect(keepalive.check(now: 4 * second, lastRead: 0, isIdle: false) == .wait(6 * second))
    #expect(keepalive.check(now: 10 * second, lastRead: 0, isIdle: false) == .ping(2 * second))
    #expect(keepalive.check(now: 12 * second, lastRead: 0, isIdle: false) == .close)
  }

  @Test func anAnswerRestartsTheTimer() {
    var keepalive = Keepalive(interval: .seconds(10), timeout: .seconds(2))
    #expect(keepalive.check(now: 10 * second, lastRead: 0, isIdle: false) == .ping(2 * second))
    #expect(keepalive.check(now: 12 * second, lastRead: 11 * second, isIdle: false) == .wait(9 * second))
  }

  @Test func anIdleConnectionIsLeftAlone() {
    var keepalive = Keepalive(interval: .seconds(10), timeout: .seconds(2))
    #expect(keepalive.check(now: 50 * second, lastRead: 0, isIdle: true) == .wait(10 * second))
  }

  @Test func aClientThatGoesSilentIsDisconnected() async throws {
    var options = ServerOptions()
    options.keepaliveInterval = .seconds(100)
    options.keepaliveTimeout = .seconds(10)
    let group = try LoopGroup()
    try await TestPair.with(server: options, serverGroup: group) { pair async throws in
      let peer = try FramePeer(pair.address)
      // It has sent data, so its handshake is complete.
      #expect(peer.next(FramePeer.Kind.settings)?.flags == 0)
      #expect(peer.next(FramePeer.Kind.settings)?.flags == 1)
      await group.loops[0].advance(by: .seconds(101))
      #expect(peer.next(FramePeer.Kind.ping)?.flags == 0)
      await group.loops[0].advance(by: .seconds(11))
      #expect(peer.raw.readToEnd())
    }
  }

  @Test func aClientMayPingDuringALongResponse() async throws {
    try await TestPair.with { pair async throws in
      let peer = try FramePeer(pair.address)
      // A window too small for the response.
      peer.send(FramePeer.Kind.settings, 0, 0, [0, 4] + FramePeer.number(1000))
      peer.headers(1, FramePeer.call("Get"))
      peer.data(1, [0] + FramePeer.number(10_000) + [UInt8](repeating: 7, count: 10_000), ends: true)
      var received = 0
      while received < 1000 { received += try #require(peer.next(FramePeer.Kind.data)).payload.count }
      for round in 1...8 {
        peer.send(FramePeer.Kind.ping, 0, 0, [0, 0, 0, 0, 0, 0, 0, UInt8(round)])
        #expect(peer.next(FramePeer.Kind.ping)?.flags == 1)
        peer.send(FramePeer.Kind.windowUpdate, 0, 1, FramePeer.number(100))
        received += try #require(peer.next(FramePeer.Kind.data)).payload.count
      }
      #expect(received == 1800)
    }
  }

  @Test func aClientPingsNoMoreOftenThanAllowed() throws {
    var options = ChannelOptions()
    options.keepaliveInterval = .seconds(1)
    let channel = try HTTP2ClientTransport(target: "localhost:1", options: options, group: try LoopGroup())
    #expect(channel.keepaliveInterval == .seconds(10))
  }

  /// grpcio allows two early pings and closes the connection at the third.
  @Test(.timeLimit(.minutes(5))) func tooManyPingsDoubleTheInterval() async throws {
    let peer = try PythonPeer("grpcio_peer.py", ["server"])
    defer { peer.stop() }
    let port = try #require(peer.line())
    let group = try LoopGroup()
    // On the loop, because other tests may block the threads of the global pool.
    try await Task(executorPreference: group.loops[0]) {
      try await pingTooOften("127.0.0.1:\(port)", group)
    }.value
  }

  private func pingTooOften(_ target: String, _ group: LoopGroup) async throws {
    var options = ChannelOptions()
    options.keepaliveInterval = .seconds(10)
    let loop = group.loops[0]
    try await withChannel(to: target, options: options, group: group) { channel async throws in
      let transport = try #require(channel.transport as? HTTP2ClientTransport)
      let call = Task { try await Caller(channel: channel).get(TestService.hang) }
      await loop.until { transport.connections.first?.openStreams == 1 }
      while !Task.isCancelled, await loop.onLoop({ transport.connections.first?.isRetired == false }) {
        let moved = await loop.onLoop { loop.now } + 21 * second
        // Each step makes a ping due; the server answers or closes the connection.
        await loop.advance(by: .seconds(21))
        await loop.until { (transport.connections.first?.lastRead ?? .max) > moved }
      }
      #expect(await status { _ = try await call.value }?.code == .unavailable)
      #expect(await loop.onLoop { transport.keepaliveInterval } == .seconds(20))
      #expect(try await Caller(channel: channel).get() == [1, 2, 3])
    }
  }

  /// A connection reports only once that it is pinged too often.
  @Test(.timeLimit(.minutes(5))) func aConnectionReportsTooManyPingsOnce() async throws {
    var options = ChannelOptions()
    options.keepaliveInterval = .seconds(10)
    let group = try LoopGroup()
    let channel = try HTTP2ClientTransport(target: "unix:/nowhere", options: options, group: group)
    let calm = [0, 0, 0, 1, 0, 0, 0, 11] + Array("too_many_pings".utf8)
    let interval: Duration?? = await channel.loop.onLoop {
      FedConnection.withClient(channel) { connection in
        // A call in progress keeps the connection open.
        let request = CallRequest(
          method: TestService.get,
          options: nil,
          body: .message(BytesMarshaller().encode([]))
        )
        channel.makeCall(request, receiver: EndRecorder()).start()
        for _ in 0..<100 { connection.feed(FramePeer.frame(FramePeer.Kind.goAway, 0, 0, calm)) }
        return channel.keepaliveInterval
      }
    }
    #expect(interval == .some(.seconds(20)))
  }

  /// Doubles with each connection: up to two hours, or to the configured value if that is larger.
  @Test(arguments: [
    (Duration.seconds(10), Duration.seconds(7200)), (.seconds(7000), .seconds(7200)),
    (.seconds(10_000), .seconds(10_000)), (.seconds(Int64.max), .seconds(Int64.max)),
  ])
  func theIntervalGrowsUpToALimit(_ sample: (set: Duration, grown: Duration)) async throws {
    var options = ChannelOptions()
    options.keepaliveInterval = sample.set
    let log = LogEntries()
    options.logger = Logger(log)
    let channel = try HTTP2ClientTransport(target: "localhost:1", options: options, group: try LoopGroup())
    let interval: Duration? = await channel.loop.onLoop {
      for _ in 0..<100 { channel.doubleKeepaliveInterval() }
      return channel.keepaliveInterval
    }
    #expect(interval == sample.grown)
    // The log says nothing more once it no longer grows.
    #expect(log.all.count <= 10)
  }

  @Test func pingsWithoutCallsAreCounted() {
    var policy = PingPolicy(minimumInterval: .seconds(300))
    let allowed = (0..<5).map { policy.allowsPing(at: UInt64($0) * second) }
    #expect(allowed == [true, true, true, false, false])
    policy.sawTraffic()
    let afterTraffic = policy.allowsPing(at: 6 * second)
    #expect(afterTraffic)
  }

  @Test func infrequentPingsAreAllowed() {
    var policy = PingPolicy(minimumInterval: .seconds(300))
    for index in 0..<20 as Range<UInt64> {
      let isAllowed = policy.allowsPing(at: index * 300 * second)
      #expect(isAllowed)
    }
  }
}
