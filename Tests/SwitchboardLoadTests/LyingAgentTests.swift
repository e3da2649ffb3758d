import LoadMessages
import ServerTestSupport
import Switchboard
import SwitchboardLoad
import Testing

/// Agents that are none, and callers of agents that lie.
@Suite(.timeLimit(.minutes(5))) struct LyingAgentTests {
  /// Answers whatever plan it gets with these responses.
  private struct Liar: LoadTestAgentProvider {
    var interceptors: Interceptors? { nil }

    var responses: [LoadTestAgentResponse] = []
    var repeats = false
    var neverEnds = false

    func run(
      requestStream: RequestStream<LoadTestAgentRequest>,
      responseStream: ResponseStreamWriter<LoadTestAgentResponse>,
      context: ServerCallContext
    ) async throws {
      repeat {
        for response in responses { try await responseStream.send(response) }
      } while repeats && !Task.isCancelled
      if neverEnds { try await Task.sleep(for: .seconds(3600)) }
    }
  }

  private func failure(
    _ liar: Liar,
    grace: Duration = .seconds(3600),
    _ change: (inout LoadTestPlan) -> Void = { _ in }
  ) async throws -> GRPCStatus? {
    var plan = try LoadTestPlan.echo("127.0.0.1:1")
    change(&plan)
    let error = try await withServer([liar]) { _, address async throws in
      let channels = [(name: "liar", channel: try Channel(target: "\(address)"))]
      return await #expect(throws: GRPCStatus.self) {
        try await LoadAgents(plan, channels, token: "secret", grace: grace).run()
      }
    }
    #expect(error?.message?.hasPrefix("the agent liar") == true)
    return error
  }

  private func result(_ change: (inout LoadTestMeasurements) -> Void) -> LoadTestAgentResponse {
    .with { response in response.result = .with { change(&$0) } }
  }

  @Test func impossibleMeasurementsAreRejected() async throws {
    let lies = [
      result { $0.latency.counts = [1] },
      result {
        $0.latency.counts = [.max, .max]
        $0.latency.skipped = [0, 0]
      },
      result {
        $0.latency.counts = [1]
        $0.latency.skipped = [.max]
      },
      result { $0.statuses = [.with { $0.code = 99 }] },
      result { $0.statuses = [.with { $0.calls = .max }, .with { $0.calls = .max }] },
      result { $0.seconds = .nan },
      result { $0.seconds = -1 },
      result { $0.seconds = .infinity },
      result { $0.series.intervals = [LoadTestInterval](repeating: LoadTestInterval(), count: 100_000) },
    ]
    for lie in lies { #expect(try await failure(Liar(responses: [lie]))?.code == .dataLoss) }
  }

  /// Doubling an interval until it is as long as this one would overflow.
  @Test(arguments: [2e10, 1e300, .infinity, .nan, -1, 0])
  func invalidIntervalLengthsAreRefused(_ seconds: Double) async throws {
    let lie = result {
      $0.series.intervalSeconds = seconds
      $0.series.intervals = [LoadTestInterval()]
    }
    #expect(try await failure(Liar(responses: [lie]))?.code == .dataLoss)
  }

  @Test func anAgentWithoutAResultFailsTheRun() async throws {
    #expect(try await failure(Liar())?.code == .dataLoss)
    let empty = [LoadTestAgentResponse](repeating: LoadTestAgentResponse(), count: 3)
    #expect(try await failure(Liar(responses: empty))?.code == .dataLoss)
  }

  /// Whether it is silent or never stops talking.
  @Test func anAgentThatDoesNotEndFailsTheRun() async throws {
    let silent = Liar(neverEnds: true)
    let busy = Liar(responses: [.with { $0.progress = LoadTestMeasurements() }], repeats: true)
    for liar in [silent, busy] {
      let error = try await failure(liar, grace: .milliseconds(1)) {
        $0.durationSeconds = 0.01
        $0.timeoutSeconds = 0
      }
      #expect(error?.code == .deadlineExceeded)
      #expect(error?.message == "the agent liar: it did not end when the run was over")
      let still = try await failure(liar, grace: .milliseconds(1)) {
        $0.callLimit = 10
        $0.timeoutSeconds = 0
      }
      #expect(still?.code == .deadlineExceeded)
      #expect(still?.message == "the agent liar: it reports nothing new")
    }
  }

  /// A caller's plan is checked before a call is made.
  @Test func invalidPlansAreRejected() throws {
    let changes: [(inout LoadTestPlan) -> Void] = [
      { $0.warmUpSeconds = .nan }, { $0.durationSeconds = -1 }, { $0.timeoutSeconds = .infinity },
      { $0.connectTimeoutSeconds = 1e300 }, { $0.connections = 0 }, { $0.concurrency = .max },
      { $0.messagesPerCall = 0 }, { $0.loops = .max }, { $0.method.name = "" },
      { $0.rate = .with { $0.to = .nan } },
      { $0.rate = .with { $0.to = 1e300 } },
      {
        $0.rate = .with {
          $0.to = 1
          $0.rampSeconds = -1
        }
      },
      { $0.payloads = [.with { $0.template = "{{" }] },
    ]
    for change in changes {
      var plan = try LoadTestPlan.echo("127.0.0.1:1")
      change(&plan)
      #expect(throws: (any Error).self) { try plan.settings() }
    }
    for change: (inout LoadTestPlan) -> Void in [{ $0.http1 = true }, { $0.protocol = .UNRECOGNIZED(9) }] {
      var plan = try LoadTestPlan.echo("127.0.0.1:1")
      change(&plan)
      let group = try LoopGroup()
      #expect(throws: PayloadError.self) { try plan.channel(on: group) }
    }
  }

  /// What the flags of a target say goes to agents.
  @Test func agentsCallByOtherProtocols() async throws {
    var options = ServerOptions()
    options.web = WebOptions()
    try await withServer([SlowEcho()], options: options) { _, target async throws in
      var plan = try LoadTestPlan.echo("\(target)")
      plan.callLimit = 5
      plan.http1 = true
      try await withServer([LoadAgent(token: "secret", interval: .milliseconds(10))]) {
        _,
        agent async throws in
        for wireProtocol in [LoadTestProtocol.connect, .grpcWeb] {
          plan.protocol = wireProtocol
          let channels = [(name: "agent", channel: try Channel(target: "\(agent)"))]
          let tally = try await LoadAgents(plan, channels, token: "secret").run()
          #expect((tally.calls, tally.errors) == (5, 0))
        }
      }
    }
  }
}
