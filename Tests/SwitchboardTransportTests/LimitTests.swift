import CallTestSupport
import CertificateSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardBalancing
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The time limits and counts of connections. The clock is advanced; the tests do not wait.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LimitTests {
  private func with(
    server: ServerOptions = ServerOptions(),
    channel: ChannelOptions = ChannelOptions(),
    _ body: (TestPair, Loop) async throws -> Void
  ) async throws {
    let group = try LoopGroup()
    try await TestPair.with(server: server, channel: channel, serverGroup: group) { pair async throws in
      try await body(pair, group.loops[0])
    }
  }

  private func wait(_ pair: TestPair, for wanted: ConnectivityState) async {
    guard let channel = pair.channel.transport as? HTTP2ClientTransport else { return }
    for await state in channel.connectivity where state == wanted { return }
  }

  @Test func anIdleConnectionIsClosedAndReopenedOnDemand() async throws {
    var options = ServerOptions()
    options.maxConnectionIdle = .seconds(60)
    try await with(server: options) { pair, loop async throws in
      _ = try await pair.get()
      await loop.advance(by: .seconds(61))
      await wait(pair, for: .idle)
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test func anIdleClientThatIgnoresTheEndIsDisconnected() async throws {
    var options = ServerOptions()
    options.maxConnectionIdle = .seconds(60)
    options.connectionAgeGrace = .seconds(10)
    try await with(server: options) { pair, loop async throws in
      let peer = try FramePeer(pair.address)
      #expect(peer.settle())
      await loop.advance(by: .seconds(61))
      #expect(peer.next(FramePeer.Kind.goAway) != nil)
      await loop.advance(by: .seconds(11))
      #expect(peer.raw.readToEnd())
    }
  }

  private final class Remaining: @unchecked Sendable {
    // Sendable holds because it is used only on the loop.
    weak var connection: ServerConnection?
  }

  /// Over HTTP/1.1, a connection without a request closes before its grace begins.
  @Test(arguments: [\ServerOptions.maxConnectionIdle, \.maxConnectionAge])
  func aConnectionThatClosesAtOnceIsReleased(
    _ limit: WritableKeyPath<ServerOptions, Duration?> & Sendable
  ) async throws {
    var options = ServerOptions()
    options[keyPath: limit] = .seconds(60)
    options.pages = [
      HTTPPage("GET", "/") { _ in
        HTTPPage.Response(status: 200, contentType: "text/plain", body: "hello".utf8)
      }
    ]
    try await with(server: options) { pair, loop async throws in
      let peer = try RawPeer(pair.address)
      peer.send(Array("GET / HTTP/1.1\r\nhost: test\r\n\r\n".utf8))
      peer.waitForBytes()
      let remaining = Remaining()
      await loop.onLoop { remaining.connection = pair.server.core.connections.first }
      #expect(await loop.onLoop { remaining.connection != nil })
      await loop.advance(by: .seconds(67))
      #expect(peer.readToEnd())
      // The socket lingers for a second.
      await loop.advance(by: .seconds(2))
      await loop.until { remaining.connection == nil }
      #expect(await loop.onLoop { remaining.connection == nil })
    }
  }

  @Test func aConnectionThatIsTooOldGivesItsCallsTimeToEnd() async throws {
    var options = ServerOptions()
    options.maxConnectionAge = .seconds(100)
    options.connectionAgeGrace = .seconds(10)
    let entries = LogEntries()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await with(server: options) { pair, loop async throws in
      let call = Task { try await pair.get(TestService.hang) }
      await pair.service.hanging.wait()
      await loop.advance(by: .seconds(111))
      await wait(pair, for: .idle)
      #expect(try await pair.get() == [1, 2, 3])
      await loop.advance(by: .seconds(11))
      #expect(await status { _ = try await call.value }?.code == .unavailable)
    }
    #expect(entries.all.map(\.metadata["methods"]) == ["/test.Test/Hang (1)"])
    #expect(entries.all.first?.message.contains("connectionAgeGrace") == true)
  }

  /// What watches something for as long as it may is cut off on purpose.
  @Test func aStreamEndsWithTheAgeOfItsConnectionInSilence() async throws {
    var options = ServerOptions()
    options.maxConnectionAge = .seconds(100)
    options.connectionAgeGrace = .seconds(10)
    let entries = LogEntries()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await with(server: options) { pair, loop async throws in
      let call = pair.channel.call(TestService.collect).makeClientStreamingCall()
      try await call.requestStream.send([1])
      await loop.until { pair.server.core.connections.contains { $0.runningHandlers > 0 } }
      await loop.advance(by: .seconds(111))
      await wait(pair, for: .idle)
      await loop.advance(by: .seconds(11))
      #expect(await call.status.code == .unavailable)
    }
    #expect(entries.all.isEmpty)
  }

  @Test func aSilentConnectionIsClosed() async throws {
    var options = ServerOptions()
    options.handshakeTimeout = .seconds(5)
    try await with(server: options) { pair, loop async throws in
      let peer = try RawPeer(pair.address)
      peer.waitForBytes()
      await loop.advance(by: .seconds(6))
      #expect(peer.readToEnd())
    }
  }

  @Test func connectionsAboveTheLimitAreClosed() async throws {
    var options = ServerOptions()
    options.maxConnections = 1
    try await with(server: options) { pair, _ async throws in
      _ = try await pair.get()
      let peer = try RawPeer(pair.address)
      #expect(peer.readToEnd())
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test func callsAboveTheLimitAreRefused() async throws {
    var options = ServerOptions()
    options.maxConcurrentStreams = 1
    try await with(server: options) { pair, _ async throws in
      let peer = try FramePeer(pair.address)
      for stream in [1, 3] as [UInt32] { peer.headers(stream, FramePeer.request("/test.Test/Update")) }
      let reset = try #require(peer.next(FramePeer.Kind.resetStream))
      #expect(reset.stream == 3)
      #expect(reset.payload == [0, 0, 0, 7])
    }
  }

  @Test func anUnfinishedTLSHandshakeTimesOut() async throws {
    var options = ServerOptions()
    options.handshakeTimeout = .seconds(3600)
    options.tls = ServerTLS(credentials: TestCertificates.server)
    try await with(server: options) { pair, loop async throws in
      let peer = try RawPeer(pair.address)
      // The start of a handshake record.
      peer.send([0x16, 3, 1, 2, 0, 1])
      await loop.until { loop.openHandles > 1 }
      await loop.advance(by: .seconds(3601))
      #expect(peer.readToEnd())
    }
  }

  @Test func headersAboveTheLimitAreRefused() async throws {
    var options = ServerOptions()
    options.maxMetadataSize = 4096
    try await with(server: options) { pair, _ async throws in
      let large = CallOptions(initialMetadata: ["large": String(repeating: "x", count: 5000)])
      #expect(await status { _ = try await pair.get(options: large) }?.code == .resourceExhausted)
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  /// Calls over a stream without room would wait forever.
  @Test(arguments: [0, -1]) func aStreamHasRoomForAMessage(_ size: Int) {
    var channelOptions = ChannelOptions()
    channelOptions.streamBufferSize = size
    #expect(throws: GRPCStatus.self) { try channelOptions.validate() }
  }

  /// A user who wants no limit sets the largest number: additions to it must not overflow.
  @Test(arguments: [Wire.ipv4, .inProcess]) func theLargestLimitDoesNotOverflow(_ wire: Wire) async throws {
    let forever = Duration.seconds(Int64.max)
    var options = ServerOptions()
    for count in [
      \ServerOptions.maxRequestSize, \.maxConcurrentStreams, \.maxMetadataSize, \.streamBufferSize,
      \.streamLookahead, \.connectionWindow, \.maxWindow, \.connectionBufferSize, \.maxConnections,
      \.controlFrameAllowance,
    ] {
      options[keyPath: count] = .max
    }
    options.maxConnectionIdle = forever
    options.maxConnectionAge = forever
    for time in [
      \ServerOptions.connectionAgeGrace, \.keepaliveInterval, \.keepaliveTimeout, \.minimumPingInterval,
      \.handshakeTimeout,
    ] {
      options[keyPath: time] = forever
    }
    options.requestTimeout = forever
    var channel = ChannelOptions()
    channel.controlFrameAllowance = .max
    channel.responseSizeLimit = .max
    channel.retryBufferSize = .max
    channel.connectionBufferSize = .max
    channel.maxWaitingCalls = .max
    channel.keepaliveInterval = forever
    channel.keepaliveTimeout = forever
    channel.connectInitialBackoff = forever
    channel.connectMaxBackoff = forever
    channel.connectMinTimeout = forever
    try await TestPair.with(wire, server: options, channel: channel) { pair async throws in
      let call = CallOptions(timeout: forever)
      #expect(try await pair.get(options: call) == [1, 2, 3])
      #expect(try await pair.update([[1], [2]]).collected() == [[1], [2]])
    }
  }

  @Test func hugeDurationsAreClamped() {
    #expect((Duration.seconds(Int64.max) * 2).nanoseconds == UInt64(Int64.max))
    #expect((Duration.seconds(Int64.min) * 2).nanoseconds == 0)
    #expect(Duration.seconds(-1).nanoseconds == 0)
    #expect(Duration.milliseconds(1500).nanoseconds == 1_500_000_000)
  }
}
