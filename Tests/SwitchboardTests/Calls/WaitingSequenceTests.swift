import CallTestSupport
import EchoService
import Switchboard
import Testing

/// Requests from a sequence that has no next element for now.
@Suite(.timeLimit(.minutes(5))) struct WaitingSequenceTests {
  private var oneAndNoMore: AsyncStream<Echo_EchoRequest> { AsyncStream { $0.yield(Echo_EchoRequest("x")) } }

  private func client(of channel: Channel, intercepted: Bool) -> Echo_EchoClient {
    intercepted
      ? Echo_EchoClient(channel: channel, interceptors: ClientFactory { [ClientHook()] })
      : Echo_EchoClient(channel: channel)
  }

  @Test(arguments: [false, true]) func theDeadlinePassesWhileTheSequenceWaits(_ intercepted: Bool)
    async throws
  {
    try await EchoPair.with(failing: true) { pair async throws in
      let client = client(of: pair.channel, intercepted: intercepted)
      let options = CallOptions(timeout: .milliseconds(30))
      let failure = await status { _ = try await client.collect(oneAndNoMore, callOptions: options) }
      #expect(failure?.code == .deadlineExceeded)
    }
  }

  @Test(arguments: [false, true]) func theServersAnswerEndsTheCallWhileTheSequenceWaits(_ intercepted: Bool)
    async throws
  {
    let make: @Sendable () -> [EchoServerInterceptor] = { [Bouncer()] }
    try await EchoPair.with(server: make) { pair async throws in
      let client = client(of: pair.channel, intercepted: intercepted)
      #expect(await status { _ = try await client.collect(oneAndNoMore) }?.code == .unauthenticated)
    }
  }

  /// Cancelling the reader of a sequence ends the sequence, which must not look like the end of the requests to the
  /// server.
  @Test(arguments: [false, true]) func aCancelledStreamOfRequestsDoesNotLookComplete(_ intercepted: Bool)
    async throws
  {
    let (begun, ends) = (Log(), Log())
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(
          send: { part, promise, context in
            if case .end = part { ends.note("ended") }
            context.send(part, promise: promise)
          },
          receive: { part, context in
            if case .message = part { begun.note("begun") }
            if case .end = part { ends.note("whole") }
            context.receive(part)
          }
        )
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let client = client(of: pair.channel, intercepted: intercepted)
      for number in 1...50 {
        let call = Task { try await client.collect(oneAndNoMore) }
        _ = try await begun.lines(atLeast: number)
        call.cancel()
        #expect(await status { _ = try await call.value }?.code == .cancelled)
      }
      #expect(try await ends.lines(atLeast: 50) == Array(repeating: "ended", count: 50))
    }
  }
}
