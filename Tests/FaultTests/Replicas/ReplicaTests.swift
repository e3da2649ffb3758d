import EchoService
import Foundation
import HTTP2TestSupport
import Switchboard
import TestSupport
import Testing

/// Several servers behind one name, each of them a process, and what happens to them under load: no call is lost.
///
/// `scripts/test/soak-replicas` has the same with more callers, and for longer.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(10))) struct ReplicaTests {
  private let scale = ReplicaScale.ofProcess

  @Test func roundRobinSpreadsCallsOverAll() async throws {
    let replicas = try ReplicaProcesses(ours: 5, grpcio: 2)
    let channel = try replicas.channel()
    let callers = ReplicaCallers(scale.callers, on: channel)
    await callers.answers.until(allOf: replicas.servers)
    // The first server that was ready got all calls that waited.
    await callers.answers.until { $0.answered >= 200 }
    let before = callers.answers.counts
    await callers.answers.until { $0.answered >= 7000 }
    let counts = callers.answers.counts.since(before)
    for server in replicas.servers {
      let share = Double(counts[server]) / Double(counts.answered) * 7
      #expect(abs(share - 1) < 0.02, "\(server.name): \(counts.byName)")
    }
    await callers.expectNoFailure()
    await channel.shutDown(grace: .zero)
  }

  /// All of ours are ended gracefully, and started again, one after the other.
  @Test func aRollingRestartLosesNoCall() async throws {
    let replicas = try ReplicaProcesses(ours: 5)
    let channel = try replicas.channel()
    let callers = ReplicaCallers(scale.callers, on: channel)
    await callers.answers.until(allOf: replicas.servers)
    try await scale.repeating("a server ends gracefully and is started again") { recoveries in
      for server in replicas.servers {
        await callers.answers.until { $0[server] > 10 }
        #expect(server.end(with: SIGTERM) == 0)
        // The others serve meanwhile.
        await callers.answers.until { $0.answered > 50 }
        try server.startAgain()
        try await recoveries.measure { await callers.answers.until { $0[server] > 0 } }
      }
    }
    await callers.expectNoFailure()
    await channel.shutDown(grace: .zero)
  }

  /// With servers of grpcio too. They end calls that they have received and not begun with `CANCELLED`.
  @Test func aRollingRestartWithRetriesLosesNoCall() async throws {
    let replicas = try ReplicaProcesses(ours: 1, grpcio: 2)
    let config = ReplicaConfig.with("round_robin", retries: #""UNAVAILABLE", "CANCELLED""#)
    let channel = try replicas.channel(config)
    let callers = ReplicaCallers(scale.callers, on: channel)
    await callers.answers.until(allOf: replicas.servers)
    for server in replicas.servers {
      #expect(server.end(with: SIGTERM) == 0)
      await callers.answers.until { $0.answered > 50 }
      try server.startAgain()
      await callers.answers.until { $0[server] > 0 }
    }
    await callers.expectNoFailure()
    await channel.shutDown(grace: .zero)
  }

  /// The client is grpcio's, which has no retries but those that are always right.
  @Test func aRollingRestartLosesNoCallOfGrpcio() throws {
    let replicas = try ReplicaProcesses(ours: 3)
    let client = try PythonPeer(
      "replicas_peer.py",
      ["callers", replicas.target, ReplicaConfig.roundRobin, "8"]
    )
    var failures: [String] = []
    func untilAnswers(of server: ReplicaProcess) {
      var answers = 0
      while answers < 20, let line = client.line() {
        if line == server.name { answers += 1 }
        if line.hasPrefix("failed") { failures.append(line) }
      }
    }
    for server in replicas.servers {
      untilAnswers(of: server)
      #expect(server.end(with: SIGTERM) == 0)
      try server.startAgain()
      untilAnswers(of: server)
    }
    #expect(failures == [])
    client.stop()
  }

  @Test func aServerThatIsKilledLosesNoCallWithRetries() async throws {
    let replicas = try ReplicaProcesses(ours: 4, grpcio: 1)
    let channel = try replicas.channel(ReplicaConfig.with("round_robin", retries: #""UNAVAILABLE""#))
    let callers = ReplicaCallers(scale.callers, on: channel)
    await callers.answers.until(allOf: replicas.servers)
    let victim = replicas.servers[2]
    try await scale.repeating("a server is killed and is started again", atLeast: 8) { recoveries in
      await callers.answers.until { $0[victim] > 10 }
      #expect(victim.end(with: SIGKILL) == 128 + SIGKILL)
      await callers.answers.until { $0.answered > 50 }
      try victim.startAgain()
      try await recoveries.measure { await callers.answers.until { $0[victim] > 0 } }
    }
    await callers.expectNoFailure()
    await channel.shutDown(grace: .zero)
  }

  @Test func callsFollowTheNameServer() async throws {
    let replicas = try ReplicaProcesses(ours: 4)
    let (old, new) = (replicas.servers.prefix(2), replicas.servers.suffix(2))
    try replicas.resolve(to: old)
    let channel = try replicas.channel()
    let callers = ReplicaCallers(scale.callers, on: channel)
    try await scale.repeating("the name server has other answers") { recoveries in
      for (present, absent) in [(old, new), (new, old)] {
        try replicas.resolve(to: present)
        try await recoveries.measure { await callers.answers.until(allOf: present) }
        // Calls that were placed before end soon.
        await callers.answers.until { $0.answered > 200 }
        let before = callers.answers.counts
        await callers.answers.until { $0.answered > 200 }
        let counts = callers.answers.counts.since(before)
        for server in absent { #expect(counts[server] == 0) }
      }
    }
    await callers.expectNoFailure()
    await channel.shutDown(grace: .zero)
  }

  /// It hangs, or is gone.
  @Test(arguments: [SIGSTOP, SIGKILL]) func knownServersStayInUseWithoutANameServer(_ signal: Int32)
    async throws
  {
    let replicas = try ReplicaProcesses(ours: 3)
    let log = WarningLog()
    let channel = try replicas.channel { $0.logger = Logger(log, minimumLevel: .warning) }
    let callers = ReplicaCallers(scale.callers, on: channel)
    await callers.answers.until(allOf: replicas.servers)
    replicas.names.send(signal)
    // A server that is silent is given up after ten seconds only: too long for a test that runs each time.
    if signal == SIGKILL || scale.isLong { await log.until("cannot resolve") }
    let server = replicas.servers[0]
    #expect(server.end(with: SIGTERM) == 0)
    await callers.answers.until { $0.answered > 100 }
    try server.startAgain()
    await callers.answers.until(allOf: replicas.servers)
    if signal == SIGSTOP {
      replicas.names.send(SIGCONT)
      try replicas.resolve(to: replicas.servers.suffix(1))
      await callers.answers.until(onlyOf: replicas.servers[2])
    }
    await callers.expectNoFailure()
    await channel.shutDown(grace: .zero)
  }

  @Test func aNameThatBecomesUnknownKeepsItsServers() async throws {
    let replicas = try ReplicaProcesses(ours: 2)
    let log = WarningLog()
    let channel = try replicas.channel { $0.logger = Logger(log, minimumLevel: .warning) }
    let callers = ReplicaCallers(scale.callers, on: channel)
    await callers.answers.until(allOf: replicas.servers)
    try replicas.resolve(to: [])
    await log.until("replicas.test was not found")
    await callers.answers.until(allOf: replicas.servers)
    await callers.expectNoFailure()
    await channel.shutDown(grace: .zero)
  }

  /// Calls that can wait are made when the name is known.
  @Test func anUnknownNameIsReported() async throws {
    let replicas = try ReplicaProcesses(ours: 2)
    try replicas.resolve(to: [])
    let channel = try replicas.channel()
    let client = Echo_EchoClient(channel: channel)
    for _ in 0..<3 {
      guard case .failure(let status) = await client.whoAnswers() else { throw InteropProcess.NotServing() }
      #expect(status.code == .unavailable)
      #expect(
        status.message
          == "replicas.test was not found: the name service \(replicas.names.authority) does not know it"
      )
    }
    let patient = Task { await client.whoAnswers("who?", .patient) }
    try replicas.resolve(to: replicas.servers)
    _ = try await patient.value.get()
    await channel.shutDown(grace: .zero)
  }

  /// The system accepts its connections, but it answers nothing, as it does not run.
  @Test func aServerThatNeverAnswersDelaysNoCall() async throws {
    let replicas = try ReplicaProcesses(ours: 3)
    let silent = replicas.servers[0]
    silent.send(SIGSTOP)
    let channel = try replicas.channel { $0.connectMinTimeout = .milliseconds(300) }
    let callers = ReplicaCallers(scale.callers, on: channel)
    await callers.answers.until(allOf: replicas.servers.suffix(2))
    await callers.answers.until { $0.answered > 500 }
    #expect(callers.answers.counts[silent] == 0)
    silent.send(SIGCONT)
    await callers.answers.until(allOf: replicas.servers)
    await callers.expectNoFailure()
    await channel.shutDown(grace: .zero)
  }

  /// One that answers errors is taken out, and comes back when it works again.
  @Test func anOutlierIsEjectedAndReturns() async throws {
    let replicas = try ReplicaProcesses(ours: 5)
    let bad = replicas.servers[3]
    let settings = """
      {"interval": "0.3s", "baseEjectionTime": "0.3s", "childPolicy": [{"round_robin": {}}],
       "failurePercentageEjection": {"threshold": 50, "minimumHosts": 5, "requestVolume": 5}}
      """
    let channel = try replicas.channel(ReplicaConfig.with("outlier_detection", settings))
    let good = ReplicaCallers(scale.callers, on: channel)
    await good.answers.until(allOf: replicas.servers)
    await good.finish()
    try await scale.repeating("a server that fails calls is taken out") { recoveries in
      let callers = ReplicaCallers(scale.callers, on: channel, text: "fail \(bad.name)")
      try await recoveries.measure {
        await callers.answers.untilFailure()
        // None of many calls reaches it.
        await callers.answers.untilQuiet(for: 100)
      }
      await callers.finish()
      let again = ReplicaCallers(scale.callers, on: channel)
      await again.answers.until(allOf: replicas.servers)
      await again.expectNoFailure()
    }
    await channel.shutDown(grace: .zero)
  }

  @Test func aSlowServerGetsFewerCalls() async throws {
    let replicas = try ReplicaProcesses(ours: 4)
    let slow = replicas.servers[1]
    let channel = try replicas.channel(ReplicaConfig.with("least_request"))
    let warm = ReplicaCallers(scale.callers, on: channel)
    await warm.answers.until(allOf: replicas.servers)
    await warm.finish()
    let callers = ReplicaCallers(scale.callers, on: channel, text: "slow \(slow.name)")
    await callers.answers.until { $0.answered > 2000 }
    let counts = await callers.finish()
    #expect(counts.failed == 0, "\(counts.failures)")
    #expect(counts[slow] * 2 < counts[replicas.servers[0]])
    await channel.shutDown(grace: .zero)
  }
}
