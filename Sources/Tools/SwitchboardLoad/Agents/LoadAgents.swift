import LoadMessages
import Switchboard

/// Several agents that run one plan together.
package final class LoadAgents: Sendable {
  private typealias AgentCall = AsyncBidirectionalStreamingCall<LoadTestAgentRequest, LoadTestAgentResponse>

  private struct Agent: Sendable {
    let name: String
    let channel: Channel
    let call: AgentCall
  }

  private let agents: [Agent]
  /// How long the run may take in total; `nil` if only its calls are limited.
  private let limit: Duration?
  /// How long an agent may report nothing new, if there is no limit.
  private let patience: Duration
  private let isLate = Locked(false)
  /// The latest tally of each agent, and when it changed.
  private let tallies: Locked<[(tally: LoadTally, changed: ContinuousClock.Instant)]>

  /// Connects to the agents and sends each its part of the plan. The names in `channels` appear in error messages. An
  /// agent that has not finished `grace` after the plan's end fails, and so does one that reports nothing new for `grace`
  /// and the time that a call may take.
  package init(
    _ plan: LoadTestPlan,
    _ channels: [(name: String, channel: Channel)],
    token: String,
    grace: Duration = .seconds(60)
  ) async throws {
    try plan.check(agents: channels.count)
    var headers = HPACKHeaders()
    headers.add(name: "authorization", value: "Bearer \(token)")
    let options = CallOptions(initialMetadata: headers)
    var agents: [Agent] = []
    for (name, channel) in channels {
      let call = LoadTestAgentClient(channel: channel).makeRunCall(callOptions: options)
      agents.append(Agent(name: name, channel: channel, call: call))
    }
    self.agents = agents
    limit =
      plan.durationSeconds > 0
      ? .seconds(plan.warmUpSeconds + plan.durationSeconds + plan.timeoutSeconds) + grace : nil
    patience = .seconds(plan.timeoutSeconds) + grace
    tallies = Locked(agents.map { _ in (tally: LoadTally(), changed: .now) })
    for (share, agent) in agents.enumerated() {
      let part = plan.part(share, of: agents.count)
      do {
        try await agent.call.requestStream.send(.with { $0.plan = part })
      } catch {
        // `run` throws the status of the call, which says more.
        return
      }
    }
  }

  /// Waits for all agents and returns their combined measurements. If one agent fails, the run fails.
  package func run() async throws -> LoadTally {
    let watch = Task {
      if let limit { try await Task.sleep(for: limit) } else { try await waitForSilence() }
      isLate.withLock { $0 = true }
      for agent in agents { agent.call.cancel() }
    }
    defer { watch.cancel() }
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, agent) in agents.enumerated() {
          group.addTask { try await self.listen(to: agent, index) }
        }
        try await group.waitForAll()
      }
    } catch {
      await stop()
      await close()
      throw error
    }
    await close()
    return tally
  }

  /// Waits until no agent reports anything new.
  private func waitForSilence() async throws {
    while true {
      let latest = tallies.withLock { $0.map(\.changed).max() } ?? .now
      guard latest + patience > .now else { return }
      try await Task.sleep(until: latest + patience, clock: .continuous)
    }
  }

  private func listen(to agent: Agent, _ index: Int) async throws {
    do {
      for try await response in agent.call.responseStream {
        let message: LoadTestMeasurements
        var isResult = false
        switch response.response {
        case .progress(let measurements)?: message = measurements
        case .result(let measurements)?: (message, isResult) = (measurements, true)
        case nil: continue
        }
        guard let tally = LoadTally(message) else {
          throw GRPCStatus(code: .dataLoss, message: "its measurements do not add up", origin: .peer)
        }
        tallies.withLock { if $0[index].tally != tally { $0[index] = (tally, .now) } }
        if isResult { return }
      }
    } catch {
      // The run has failed, so the other agents can stop.
      for other in agents where other.name != agent.name { other.call.cancel() }
      var status = GRPCStatus(describing: error)
      if isLate.withLock({ $0 }) {
        let reason = limit == nil ? "it reports nothing new" : "it did not end when the run was over"
        status = GRPCStatus(code: .deadlineExceeded, message: reason)
      }
      let message = "the agent \(agent.name): \(status.message ?? "")"
      throw GRPCStatus(code: status.code, message: message, origin: status.origin)
    }
    throw GRPCStatus(
      code: .dataLoss,
      message: "the agent \(agent.name) ended without a result",
      origin: .peer
    )
  }

  /// Tells all agents to start no more calls. `run` then returns.
  package func stop() async {
    for agent in agents {
      try? await agent.call.requestStream.send(.with { $0.stop = LoadTestStop() })
      agent.call.requestStream.finish()
    }
  }

  private func close() async {
    for agent in agents { await agent.channel.shutDown(grace: .zero) }
  }

  /// The measurements so far, of all agents.
  package var tally: LoadTally {
    tallies.withLock { $0 }.reduce(into: LoadTally()) { $0.add($1.tally) }
  }
}
