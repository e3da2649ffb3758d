import CallTestSupport
import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Calls above the server's limit wait for their turn.
@Suite(.timeLimit(.minutes(5))) struct WaitingCallTests {
  /// A pair whose only connection is occupied by a call that hangs.
  private func with(maxWaiting: Int = 100, _ body: (TestPair, HTTP2ClientTransport) async throws -> Void)
    async throws
  {
    var server = ServerOptions()
    server.maxConcurrentStreams = 1
    var options = ChannelOptions()
    options.maxConnections = 1
    options.maxWaitingCalls = maxWaiting
    try await TestPair.with(server: server, channel: options) { pair async throws in
      let hanging = Task { try await pair.get(TestService.hang, [9]) }
      await pair.service.hanging.wait()
      try await body(pair, try #require(pair.channel.transport as? HTTP2ClientTransport))
      pair.service.cancelled.fire()
      #expect(try await hanging.value == [9])
    }
  }

  @Test func deadlinesEndWaitingCalls() async throws {
    try await with { pair, channel async throws in
      let call = Task { try await pair.get(options: CallOptions(timeout: .seconds(100))) }
      await channel.loop.until { channel.waiting.count > 0 }
      await channel.loop.advance(by: .seconds(101))
      #expect(await status { _ = try await call.value }?.code == .deadlineExceeded)
      #expect(await channel.loop.onLoop { channel.waiting.count == 0 })
    }
  }

  @Test func waitingCallsAreReleasedWhenTheyEnd() async throws {
    try await with { pair, channel async throws in
      var tokens: NoTokens? = NoTokens()
      weak let held = tokens
      var options = CallOptions(timeout: .seconds(100))
      options.authTokenProvider = tokens
      tokens = nil
      let call = Task { [options] in try await pair.get(options: options) }
      options = CallOptions()
      await channel.loop.until { channel.waiting.count > 0 }
      call.cancel()
      #expect(await status { _ = try await call.value }?.code == .cancelled)
      for _ in 0..<10_000 where held != nil { try await Task.sleep(for: .milliseconds(1)) }
      #expect(held == nil)
    }
  }

  private final class NoTokens: AuthTokenProvider {
    func token() async throws -> String? { nil }
  }

  @Test func waitingCallsCanBeCancelled() async throws {
    try await with { pair, channel async throws in
      let calls = (0..<100).map { _ in Task { try await pair.get() } }
      await channel.loop.until { channel.waiting.count == 100 }
      for call in calls { call.cancel() }
      for call in calls { #expect(await status { _ = try await call.value }?.code == .cancelled) }
      #expect(await channel.loop.onLoop { channel.waiting.count == 0 })
    }
  }

  @Test func theNumberOfWaitingCallsIsLimited() async throws {
    try await with(maxWaiting: 2) { pair, channel async throws in
      let calls = (0..<2).map { _ in Task { try await pair.get() } }
      await channel.loop.until { channel.waiting.count == 2 }
      #expect(await status { _ = try await pair.get() }?.code == .resourceExhausted)
      pair.service.cancelled.fire()
      for call in calls { #expect(try await call.value == [1, 2, 3]) }
    }
  }
}
