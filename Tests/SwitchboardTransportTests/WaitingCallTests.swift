import CallTestSupport
import HTTP2TestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// Calls above the server's limit wait for their turn.
@Suite(.timeLimit(.minutes(5))) struct WaitingCallTests {
  /// A pair whose only connection is occupied by a call that hangs.
  private func with(maxWaiting: Int = 100, _ body: (TestPair) async throws -> Void) async throws {
    var server = ServerOptions()
    server.maxConcurrentStreams = 1
    var options = ChannelOptions()
    options.maxConnections = 1
    options.maxWaitingCalls = maxWaiting
    try await TestPair.with(server: server, channel: options) { pair async throws in
      let hanging = Task { try await pair.get(TestService.hang, [9]) }
      await pair.service.hanging.wait()
      try await body(pair)
      pair.service.cancelled.fire()
      #expect(try await hanging.value == [9])
    }
  }

  /// Returns once this many calls wait, besides the one that hangs.
  private func untilWaiting(_ count: Int, _ channel: Channel) async {
    await channel.until { $0.calls.started - $0.calls.succeeded - $0.calls.failed == 1 + count }
  }

  /// Checks that calls that ended have left their places to this many others.
  private func checkPlaces(_ count: Int, _ pair: TestPair) async throws {
    let calls = (0..<count).map { _ in Task { try await pair.get() } }
    await untilWaiting(count, pair.channel)
    pair.service.cancelled.fire()
    for call in calls { #expect(try await call.value == [1, 2, 3]) }
  }

  @Test func deadlinesEndWaitingCalls() async throws {
    try await with(maxWaiting: 1) { pair async throws in
      let call = Task { try await pair.get(options: CallOptions(timeout: .seconds(100))) }
      await untilWaiting(1, pair.channel)
      try await #require(pair.channel.eventLoop as? Loop).advance(by: .seconds(101))
      #expect(await status { _ = try await call.value }?.code == .deadlineExceeded)
      try await checkPlaces(1, pair)
    }
  }

  @Test func waitingCallsAreReleasedWhenTheyEnd() async throws {
    try await with { pair async throws in
      var tokens: NoTokens? = NoTokens()
      weak let held = tokens
      var options = CallOptions(timeout: .seconds(100))
      options.authTokenProvider = tokens
      tokens = nil
      let call = Task { [options] in try await pair.get(options: options) }
      options = CallOptions()
      await untilWaiting(1, pair.channel)
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
    try await with { pair async throws in
      let calls = (0..<100).map { _ in Task { try await pair.get() } }
      await untilWaiting(100, pair.channel)
      for call in calls { call.cancel() }
      for call in calls { #expect(await status { _ = try await call.value }?.code == .cancelled) }
      try await checkPlaces(100, pair)
    }
  }

  @Test func theNumberOfWaitingCallsIsLimited() async throws {
    try await with(maxWaiting: 2) { pair async throws in
      let calls = (0..<2).map { _ in Task { try await pair.get() } }
      await untilWaiting(2, pair.channel)
      #expect(await status { _ = try await pair.get() }?.code == .resourceExhausted)
      pair.service.cancelled.fire()
      for call in calls { #expect(try await call.value == [1, 2, 3]) }
    }
  }
}
