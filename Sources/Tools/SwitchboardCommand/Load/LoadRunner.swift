import LoadMessages
import Switchboard
import SwitchboardLoad
import SwitchboardToolSupport

/// Runs a plan, in this process or on agents.
enum LoadRunner {
  case local(LoadRun)
  case agents(LoadAgents, begin: UInt64, seconds: Double)

  init(_ plan: LoadTestPlan, _ target: Target, _ agents: LoadAgentList?) async throws {
    guard let agents else {
      let run: LoadRun
      do {
        run = try await LoadRun(try plan.settings()) { try target.channel(group: $0) }
      } catch let status as GRPCStatus {
        throw target.failure(status)
      }
      self = .local(run)
      return
    }
    let channels = try agents.channels()
    let run = try await LoadAgents(plan, channels, token: agents.token)
    let seconds = plan.durationSeconds > 0 ? plan.durationSeconds + plan.warmUpSeconds : 0
    self = .agents(run, begin: MonotonicClock.now, seconds: seconds)
  }

  func run() async throws -> LoadTally {
    switch self {
    case .local(let run): await run.run()
    case .agents(let agents, _, _): try await agents.run()
    }
  }

  func stop() async {
    switch self {
    case .local(let run): await run.stop()
    case .agents(let agents, _, _): await agents.stop()
    }
  }

  /// Updates the displayed state from the run.
  func update(_ state: inout LiveState) {
    switch self {
    case .local(let run):
      let progress = run.progress
      state.isWarmingUp = run.isWarmingUp
      state.advance(to: run.tally, elapsed: progress.elapsed, share: progress.share)
    case .agents(let agents, let begin, let seconds):
      let elapsed = MonotonicClock.now &- begin
      let tally = agents.tally
      state.isWarmingUp = tally.calls == 0
      let share = seconds > 0 ? min(1, Double(elapsed) / seconds / 1e9) : nil
      state.advance(to: tally, elapsed: elapsed, share: share)
    }
  }
}

/// The agents that the arguments name.
struct LoadAgentList: Sendable {
  let addresses: [String]
  let token: String
  let roots: String?

  /// Nil if the arguments name none.
  init?(_ arguments: Arguments, _ request: LoadRequest) throws {
    guard arguments.has(LoadFlags.agents) else { return nil }
    for flag in [TargetFlags.certificate, TargetFlags.insecure] where arguments.has(flag) {
      throw Failure.usage("\(flag.name) is not passed to agents, because it would leave this machine")
    }
    addresses = Self.addresses(arguments)
    guard !addresses.isEmpty else { throw Failure.usage("--agents needs HOST:PORT") }
    for address in addresses {
      if let mistake = TargetMistake(in: address) { throw mistake.failure(address) }
      guard address.contains(":"), !address.contains("://") else {
        throw Failure.usage("--agents needs HOST:PORT, not '\(address)'")
      }
    }
    var known: Set<String> = []
    for address in addresses where !known.insert(address).inserted {
      throw Failure.usage("--agents names \(address) twice")
    }
    do { try request.plan.check(agents: addresses.count) } catch { throw Failure.usage("--agents: \(error)") }
    guard let token = try arguments.secret(LoadFlags.token) ?? Terminal.environment(Self.variable),
      !token.isEmpty
    else {
      throw Failure.usage("--agents needs --agent-token, which the agents print when they start")
    }
    self.token = token
    roots = arguments[LoadFlags.agentRoots]
  }

  /// The agents' addresses in the arguments.
  static func addresses(_ arguments: Arguments) -> [String] {
    (arguments[LoadFlags.agents] ?? "").split(separator: ",").map(String.init)
  }

  /// The failure of a run: of a connection to an agent, or of an agent's to the server.
  func failure(_ status: GRPCStatus, of target: Target) -> Failure {
    var failure = Failure(status.withoutOptions)
    let message = status.message ?? ""
    if status.isAgents(calling: target.address) {
      failure.hints = target.failure(status).hints
    } else if roots != nil, message.contains("does not speak TLS") {
      failure.hints = ["Without '--agent-cacert', connections to agents have no TLS."]
    } else if roots == nil, message.contains("requires TLS") || message.contains("speaks TLS") {
      failure.hints = ["'--agent-cacert FILE' connects to the agents with TLS."]
    }
    return failure
  }

  static let variable = "SWITCHBOARD_AGENT_TOKEN"

  func channels() throws -> [(name: String, channel: Channel)] {
    var options = ChannelOptions()
    options.responseSizeLimit = 64 << 20
    options.logger = .quiet
    options.security = roots.map { .tls(ClientTLS(trustRoots: .file($0))) } ?? .plaintext
    return try addresses.map { address in
      do {
        return (address, try Channel(target: address, options: options))
      } catch {
        var failure = Failure(ofSetup: GRPCStatus(describing: error))
        failure.message = "--agents: \(address): \(failure.message)"
        throw failure
      }
    }
  }
}
