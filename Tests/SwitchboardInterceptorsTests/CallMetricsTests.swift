import CallTestSupport
import EchoService
import Switchboard
import SwitchboardInterceptors
import Testing

@Suite(.timeLimit(.minutes(5))) struct CallMetricsTests {
  @Test func callsAreSummedUpByMethodSideAndStatus() async throws {
    let table = CallMetricsTable()
    let clock = TestClock()
    let metrics = CallMetrics(table, now: clock.now)
    try await withEcho(TestProvider(), client: [metrics, Advance(clock)], server: [metrics]) {
      client async throws in
      _ = try await client.get(request("x"))
      _ = try await client.get(request("y"))
      _ = await status { _ = try await client.get(request("fail")) }
      for try await _ in client.expand(request("a b c")) {}
    }
    let path = "/echo.Echo/Get"
    let successes = try #require(table.sums[CallMetricsTable.Key(path: path, isServer: false, code: .ok)])
    #expect(successes.calls == 2)
    #expect(successes.requests == 2)
    #expect(successes.responses == 2)
    #expect(successes.duration == .milliseconds(6))
    #expect(successes.longest == .milliseconds(3))
    #expect(successes.histogram[2] == 2)
    #expect(table.sums[.init(path: path, isServer: false, code: .notFound)]?.calls == 1)
    #expect(table.sums[.init(path: path, isServer: true, code: .notFound)]?.responses == 0)
    #expect(table.sums[.init(path: "/echo.Echo/Expand", isServer: true, code: .ok)]?.responses == 3)
    #expect(table.callsInProgress == 0)
  }

  @Test func aCallThatIsCancelledIsCounted() async throws {
    let table = CallMetricsTable()
    try await withEcho(TestProvider(), client: [CallMetrics(table)]) { client async throws in
      do {
        let call = client.makeUpdateCall()
        try await call.requestStream.send(request("x"))
        var responses = call.responseStream.makeAsyncIterator()
        _ = try await responses.next()
        #expect(table.callsInProgress == 1)
      }
      while table.callsInProgress > 0 { try await Task.sleep(for: .milliseconds(2)) }
    }
    #expect(table.sums[.init(path: "/echo.Echo/Update", isServer: false, code: .cancelled)]?.calls == 1)
  }

  @Test func theTableIsBounded() {
    let table = CallMetricsTable(limit: 2)
    for path in ["a", "b", "c", "d"] {
      table.callStarted(path: path, isServer: true)
      table.callEnded(
        .init(path: path, isServer: true, code: .ok, duration: .zero, requests: 0, responses: 0)
      )
    }
    #expect(table.sums.count == 3)
    #expect(table.sums[.init(path: "other", isServer: true, code: .ok)]?.calls == 2)
  }
}

/// Advances the clock by three milliseconds in every call.
private struct Advance: ClientInterceptorFactory {
  let clock: TestClock

  init(_ clock: TestClock) { self.clock = clock }

  func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] { [Interceptor(clock)] }

  private final class Interceptor<Request: Sendable, Response: Sendable>: ClientInterceptor<Request, Response>
  {
    let clock: TestClock

    init(_ clock: TestClock) {
      self.clock = clock
      super.init()
    }

    override func receive(
      _ part: GRPCClientResponsePart<Response>,
      context: ClientInterceptorContext<Request, Response>
    ) {
      if case .end = part { clock.advance(by: .milliseconds(3)) }
      context.receive(part)
    }
  }
}
