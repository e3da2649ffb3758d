import LoadMessages
import Switchboard
import SwitchboardLoad
import Testing

@Suite(.timeLimit(.minutes(2))) struct AgentTests {
  private func agent(_ token: String = "secret") throws -> (Server, String) {
    let server = try Server(providers: [LoadAgent(token: token, interval: .milliseconds(10))])
    return (server, "\(try server.bind(host: "127.0.0.1", port: 0))")
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
      let (first, one) = try agent()
      let (second, two) = try agent()
      var plan = try LoadTestPlan.echo(target)
      plan.callLimit = 101
      let tally = try await run(plan, [one, two])
      #expect(tally.calls == 101)
      #expect(tally.errors == 0)
      #expect(echo.kept.times.withLock { $0.count } == 101)
      await first.shutDown(grace: .zero)
      await second.shutDown(grace: .zero)
    }
  }

  @Test func anotherTokenIsRefused() async throws {
    let (server, address) = try agent()
    let plan = try LoadTestPlan.echo("127.0.0.1:1")
    for token in ["x", "Secret", "secrets"] {
      let error = await #expect(throws: GRPCStatus.self) { try await run(plan, [address], token: token) }
      #expect(error?.code == .unauthenticated)
    }
    await server.shutDown(grace: .zero)
  }

  @Test func plansAreChecked() async throws {
    let (server, address) = try agent()
    var plan = try LoadTestPlan.echo("127.0.0.1:1")
    plan.connections = 100_000
    let error = await #expect(throws: GRPCStatus.self) { try await run(plan, [address]) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message?.contains("connections") == true)
    await server.shutDown(grace: .zero)
  }

  @Test func aFailingAgentEndsTheRunOfAll() async throws {
    try await LoadRunTests.with(SlowEcho()) { target in
      let (server, address) = try agent()
      // Without an end: it ends because the other is not there.
      let plan = try LoadTestPlan.echo(target)
      let error = await #expect(throws: GRPCStatus.self) { try await run(plan, [address, "127.0.0.1:1"]) }
      #expect(error?.code == .unavailable)
      #expect(error?.message?.hasPrefix("the agent 127.0.0.1:1: ") == true)
      await server.shutDown(grace: .zero)
    }
  }

  @Test func agentsStopOnRequest() async throws {
    try await LoadRunTests.with(SlowEcho()) { target in
      let (server, address) = try agent()
      let plan = try LoadTestPlan.echo(target)
      let agents = try await LoadAgents(
        plan,
        [(name: address, channel: try Channel(target: address))],
        token: "secret"
      )
      async let tally = agents.run()
      while agents.tally.calls == 0 { try await Task.sleep(for: .milliseconds(5)) }
      await agents.stop()
      #expect(try await tally.calls > 0)
      await server.shutDown(grace: .zero)
    }
  }
}
