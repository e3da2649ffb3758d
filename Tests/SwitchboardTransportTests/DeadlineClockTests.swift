import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// Deadlines are made by the clock that keeps them: that of the call's loop, which a test advances.
@Suite(.timeLimit(.minutes(5))) struct DeadlineClockTests {
  private static let hour = Duration.seconds(3600)
  private static let options = CallOptions(timeout: .seconds(600))

  /// Tells the deadlines of its calls.
  private struct Telling: CallHandlerProvider {
    let deadlines: AsyncStream<ContinuousClock.Instant?>
    private let tell: AsyncStream<ContinuousClock.Instant?>.Continuation

    init() { (deadlines, tell) = AsyncStream.makeStream() }

    var serviceName: String { "test.Test" }

    var methodHandlers: [MethodHandler] {
      [
        TestService.get.bytes.unaryHandler { [tell] request, context in
          tell.yield(context.deadline)
          return request
        }
      ]
    }

    func next() async throws -> ContinuousClock.Instant {
      for await deadline in deadlines { return try #require(deadline) }
      throw CancellationError()
    }
  }

  @Test func aServersDeadlineIsComputedByItsLoopsClock() async throws {
    let group = try LoopGroup()
    await group.loops[0].advance(by: Self.hour)
    let provider = Telling()
    try await withPair([provider], group: group) { pair async throws in
      let channel = pair.channel
      let start = ContinuousClock.now
      _ = try await Caller(channel: channel).get(options: Self.options)
      // The handler's time would be some 600 seconds by another clock.
      #expect(try await provider.next() > start + Self.hour)
    }
  }

  @Test func aServersDeadlineIsKeptByItsLoopsClock() async throws {
    let group = try LoopGroup()
    try await TestPair.with(serverGroup: group) { pair async throws in
      let call = Task { try await pair.get(TestService.hang, options: Self.options) }
      await pair.service.hanging.wait()
      await group.loops[0].advance(by: .seconds(599))
      #expect(group.loops[0].clock.now > .now + .seconds(598))
      await group.loops[0].advance(by: .seconds(2))
      #expect(await status { _ = try await call.value }?.code == .deadlineExceeded)
      await pair.service.cancelled.wait()
    }
  }

  /// A deadline by another clock would have passed before the call.
  @Test(arguments: Wire.allCases) func aClientsDeadlineIsComputedByItsLoopsClock(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let loop = try #require(pair.channel.eventLoop as? Loop)
      await loop.advance(by: Self.hour)
      #expect(try await pair.get(options: Self.options) == [1, 2, 3])
    }
  }

  @Test func aPooledClientsDeadlineIsComputedByItsLoopsClock() async throws {
    let group = try LoopGroup()
    await group.loops[0].advance(by: Self.hour)
    try await withServer([TestService()]) { _, address async throws in
      try await withPool(try ChannelPool(group: group)) { pool async throws in
        var options = CallOptions()
        options.security = .plaintext
        let host = "\(address)"
        let channel = Channel(host: host, options: options, pool: pool)
        options.timeout = .seconds(600)
        #expect(try await Caller(channel: channel).get(options: options) == [1, 2, 3])
      }
    }
  }

  /// What waits outside of the transport waits by the same clock.
  @Test func theChainsAlarmFollowsTheLoopsClock() async throws {
    try await withChannel(try Channel(inProcess: [TestService()])) { channel async throws in
      let loop = try #require(channel.eventLoop as? Loop)
      await loop.advance(by: Self.hour)
      let time = loop.clock
      let early = time.now
      let sleep = Task { try await time.sleep(until: early + .seconds(50)) }
      await loop.until { loop.openHandles > 0 }
      await loop.advance(by: .seconds(51))
      try await sleep.value
      #expect(time.now >= early + .seconds(50))
    }
  }
}
