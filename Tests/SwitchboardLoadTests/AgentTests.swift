import LoadMessages
import ServerTestSupport
import Switchboard
import SwitchboardLoad
import Testing

@Suite(.timeLimit(.minutes(2))) struct AgentTests {
  /// Runs `body` with the addresses of some agents.
  private func withAgents(_ count: Int, _ body: ([String]) async throws -> Void) async throws {
    let agents = (0..<count).map { _ in [LoadAgent(token: "secret", interval: .milliseconds(10))] }
    try await withServers(agents) { _, addresses async throws in try await body(addresses.map { "\($0)" }) }
  }

  private func run(_ plan: LoadTestPlan, _ addresses: [String], token: String = "secret") async throws
    -> LoadTally
  {
    let channels = try addresses.map { (name: $0, channel: try Channel(target: $0)) }
    return try await LoadAgents(plan, channels, token: token).run()
  }

  @Test func agentsMakeTheCallsTogether() async throws {
    let echo = SlowEcho()
    try await LoadRunTests.with(echo) { target in
      try await withAgents(2) { addresses async throws in
        var plan = try LoadTestPlan.echo(target)
        plan.callLimit = 101
        let tally = try await run(plan, addresses)
        #expect(tally.calls == 101)
        #expect(tally.errors == 0)
        #expect(echo.kept.times.withLock { $0.count } == 101)
      }
    }
  }

  @Test func anotherTokenIsRefused() async throws {
    try await withAgents(1) { addresses async throws in
      let plan = try LoadTestPlan.echo("127.0.0.1:1")
      for token in ["x", "Secret", "secrets"] {
        let error = await #expect(throws: GRPCStatus.self) { try await run(plan, addresses, token: token) }
        #expect(error?.code == .unauthenticated)
      }
    }
  }

  @Test func plansAreChecked() async throws {
    try await withAgents(1) { addresses async throws in
      var plan = try LoadTestPlan.echo("127.0.0.1:1")
      plan.connections = 100_000
      let error = await #expect(throws: GRPCStatus.self) { try await run(plan, addresses) }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message?.contains("connections") == true)
    }
  }

  @Test func aFailingAgentEndsTheRunOfAll() async throws {
    try await LoadRunTests.with(SlowEcho()) { target in
      try await withAgents(1) { addresses async throws in
        // Without an end: it ends because the other is not there.
        let plan = try LoadTestPlan.echo(target)
        let error = await #expect(throws: GRPCStatus.self) {
          try await run(plan, addresses + ["127.0.0.1:1"])
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message?.hasPrefix("the agent 127.0.0.1:1: ") == true)
      }
    }
  }

  @Test func agentsStopOnRequest() async throws {
    try await LoadRunTests.with(SlowEcho()) { target in
      try await withAgents(1) { addresses async throws in
        let plan = try LoadTestPlan.echo(target)
        let channels = try addresses.map { (name: $0, channel: try Channel(target: $0)) }
        let agents = try await LoadAgents(plan, channels, token: "secret")
        async let tally = agents.run()
        while agents.tally.calls == 0 { try await Task.sleep(for: .milliseconds(5)) }
        await agents.stop()
        #expect(try await tally.calls > 0)
      }
    }
  }
}
