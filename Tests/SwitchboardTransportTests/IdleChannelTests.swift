import HTTP2TestSupport
import SwitchboardBalancing
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// When a channel without calls closes its connections. Its timeout is long, because the time that a busy machine takes for a
/// test passes as well.
@Suite(.timeLimit(.minutes(5))) struct IdleChannelTests {
  private func with(
    _ idleTimeout: Duration,
    _ body: (TestPair, HTTP2ClientTransport) async throws -> Void
  ) async throws {
    var options = ChannelOptions()
    options.idleTimeout = idleTimeout
    try await TestPair.with(channel: options) { pair async throws in
      try await body(pair, try #require(pair.channel.transport as? HTTP2ClientTransport))
    }
  }

  private func state(_ transport: HTTP2ClientTransport) async -> ConnectivityState {
    await transport.loop.onLoop { transport.state }
  }

  @Test func theTimeoutCountsFromTheEndOfTheLastCall() async throws {
    try await with(.seconds(6000)) { pair, transport async throws in
      let call = Task { try await pair.get(TestService.hang, [1]) }
      await pair.service.hanging.wait()
      // By the second time, no call has begun for as long as the timeout.
      for seconds in [6100, 5000] { await transport.loop.advance(by: .seconds(seconds)) }
      pair.service.cancelled.fire()
      #expect(try await call.value == [1])
      await transport.loop.until { transport.isUnused }
      for seconds in [1100, 2900] {
        await transport.loop.advance(by: .seconds(seconds))
        #expect(await state(transport) == .ready)
      }
      await transport.loop.advance(by: .seconds(2100))
      #expect(await state(transport) == .idle)
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  /// Also if no call is in progress when the time of an earlier one is over.
  @Test func eachCallStartsTheTimeAnew() async throws {
    try await with(.seconds(6000)) { pair, transport async throws in
      for seconds in [4800, 1300] {
        #expect(try await pair.get() == [1, 2, 3])
        await transport.loop.until { transport.isUnused }
        await transport.loop.advance(by: .seconds(seconds))
        #expect(await state(transport) == .ready)
      }
      await transport.loop.advance(by: .seconds(4800))
      #expect(await state(transport) == .idle)
    }
  }

  @Test func aChannelThatConnectedWithoutACallGoesIdle() async throws {
    try await with(.seconds(6000)) { pair, transport async throws in
      pair.channel.connect()
      await transport.loop.until { transport.state == .ready }
      await transport.loop.advance(by: .seconds(4000))
      #expect(await state(transport) == .ready)
      await transport.loop.advance(by: .seconds(2100))
      #expect(await state(transport) == .idle)
    }
  }

  /// However short the timeout is, the loop is not woken for it again and again.
  @Test func nothingWaitsWhileACallIsInProgress() async throws {
    try await with(.nanoseconds(1)) { pair, transport async throws in
      let call = Task { try await pair.get(TestService.hang, [1]) }
      await pair.service.hanging.wait()
      #expect(await transport.loop.onLoop { transport.idleness.timer == nil })
      pair.service.cancelled.fire()
      #expect(try await call.value == [1])
      await transport.loop.until { transport.state == .idle }
      #expect(await transport.loop.onLoop { transport.idleness.timer == nil })
      #expect(try await pair.get() == [1, 2, 3])
    }
  }
}
