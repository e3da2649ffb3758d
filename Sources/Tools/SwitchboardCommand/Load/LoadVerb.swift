import LoadMessages
import Switchboard
import SwitchboardLoad
import SwitchboardProtobuf
import SwitchboardToolSupport

/// The verb `load`.
enum LoadVerb {
  static let verb = Verb(
    "load",
    summary: "put load on a server and measure its latency",
    usage: ["TARGET METHOD [FLAG]..."],
    details: [
      "Without --rate, each of --concurrency callers makes its next call when its previous one has ended, so a slow server "
        + "is called less often. With --rate, calls are due at fixed times, and their latency counts from then: the "
        + "percentiles include the time that callers would have waited while the server stalled.",
      "Ctrl-C ends the run with a report of what was measured so far; a second one ends it at once.",
    ],
    operands: [
      .target, Operand("METHOD", completion: .methods, "The method: SERVICE/METHOD."),
    ],
    flags: [
      LoadFlags.payload, LoadFlags.amount, LoadFlags.report, LoadFlags.agentGroup, SchemaFlags.group,
      TargetFlags.group,
    ],
    flagRules: LoadFlags.rules,
    examples: [
      Example(
        #"load localhost:50051 shop.Shop/Get -d '{"id": {{random 1 1000}}}'"#,
        "Fifty callers for ten seconds."
      ),
      Example(
        "load localhost:50051 shop.Shop/Get -r 100..5000 -z 1m --save run.html",
        "From 100 to 5000 calls per second within a minute, with a report in HTML."
      ),
      Example(
        "load localhost:50051 shop.Shop/Get -r 500 --compare main.json --fail-if 'p99>20ms,errors>0.1%'",
        "For continuous integration."
      ),
      Example(
        "load shop.example:443 shop.Shop/Get -r 20000 --agents a:7000,b:7000 --agent-token @token.txt",
        "Let two agents make half of the calls each."
      ),
      Example(
        "load localhost:50051 shop.Shop/Get --find-max 'p99<10ms'",
        "Find the highest rate that the server can handle."
      ),
    ],
    run
  )

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let output = try LoadOutput(arguments)
    let view = try arguments.choice(LoadFlags.live, of: LoadView.self) ?? .line
    try output.check(isOpenLoop: arguments.has(LoadFlags.rate) || arguments.has(LoadFlags.findMax))
    let request = try await LoadRequest(arguments)
    output.warn(ifNotOf: request.method)
    let agents = try LoadAgentList(arguments, request)
    if let roots = arguments[TargetFlags.roots], agents != nil {
      var plan = request
      do { plan.plan.roots = try readFile(roots) } catch { throw Failure.unreadable(error) }
      return try await run(plan, agents, view, output)
    }
    return try await run(request, agents, view, output)
  }

  private static func run(
    _ request: LoadRequest,
    _ agents: LoadAgentList?,
    _ view: LoadView,
    _ output: LoadOutput
  ) async throws -> ExitCode {
    let started = LoadOutput.timestamp
    let load = request.load + (agents.map { ", by \($0.addresses.count) agents" } ?? "")
    if !request.findMax.isEmpty {
      return try await LoadSearch(request: request, agents: agents, view: view, output: output).run()
    }
    let isInterrupted = Locked(false)
    let tally = try await measure(request.plan, request, agents, view) {
      isInterrupted.withLock { $0 = true }
    }
    let report = LoadTestReport(
      tally,
      target: request.target.text,
      method: request.method,
      started: started,
      load: isInterrupted.withLock { $0 } ? "\(load), interrupted" : load
    )
    try output.write(report, tally)
    warnIfLate(tally)
    warnIfNothing(tally, request)
    return exitCode(tally, request)
  }

  /// Says so if the figures are rather those of this machine than of the server.
  static func warnIfLate(_ tally: LoadTally) {
    guard tally.isGeneratorLate else { return }
    Output.warn(
      "calls were started \(Figure.time(tally.lateness.quantile(0.99))) (p99) after they were due: this machine is too "
        + "slow for the rate, and the latencies are rather its own than the server's"
    )
  }

  /// Says why a report has no calls.
  private static func warnIfNothing(_ tally: LoadTally, _ request: LoadRequest) {
    guard tally.calls == 0, request.failIf.isEmpty, request.plan.warmUpSeconds > 0 else { return }
    let isCounted = request.plan.callLimit > 0
    Output.warn(
      "no call was measured, because the run ended in its warm-up"
        + (isCounted ? ": --calls counts the calls of --warm-up too" : "")
    )
  }

  /// Runs a plan, displays its progress, and stops when the user asks.
  static func measure(
    _ plan: LoadTestPlan,
    _ request: LoadRequest,
    _ agents: LoadAgentList?,
    _ view: LoadView,
    interrupted: @escaping @Sendable () -> Void = {}
  ) async throws -> LoadTally {
    let runner = try await LoadRunner(plan, request.target, agents)
    let view = LoadDisplay.possible(view)
    let leave: @Sendable () -> Void = { LoadDisplay.leave(view) }
    let interrupts = await Interrupts(atOnce: leave) {
      interrupted()
      Task { await runner.stop() }
    }
    defer { interrupts.stop() }
    var described = request
    described.plan = plan
    let state = LiveState(method: request.method, target: request.target.text, load: described.load)
    let display = Task { await LoadDisplay(view, runner, state).run() }
    let result: Result<LoadTally, any Error>
    do {
      result = .success(try await runner.run())
    } catch let status as GRPCStatus {
      result = .failure(agents?.failure(status, of: request.target) ?? Failure(status))
    } catch {
      result = .failure(error)
    }
    display.cancel()
    await display.value
    return try result.get()
  }

  /// A condition that holds, or the status of calls if none succeeded.
  private static func exitCode(_ tally: LoadTally, _ request: LoadRequest) -> ExitCode {
    guard tally.calls > 0 || request.failIf.isEmpty else {
      Output.complain(
        Failure("no call was measured, so no condition of --fail-if was checked", code: .conditionHolds)
      )
      return .conditionHolds
    }
    let failed = request.failIf.filter { $0.holds(in: tally) }
    for condition in failed {
      Output.complain(Failure("\(condition.description(in: tally))", code: .conditionHolds))
    }
    if !failed.isEmpty { return .conditionHolds }
    guard tally.calls > 0, tally.errors == tally.calls else { return .success }
    let worst = tally.statuses.enumerated().max { $0.element.calls < $1.element.calls }
    guard let worst, let code = GRPCStatus.Code(rawValue: worst.offset) else { return .success }
    // The tally does not record the origin. `.peer` gives the hints for connection failures.
    let messages = worst.element.samples
    let status = GRPCStatus(code: code, message: messages.first, origin: .peer)
    var failure = request.target.failure(status)
    failure.hints += messages.dropFirst().map { "Other calls: \($0)" }
    Output.complain(failure)
    return failure.code
  }
}

extension ExitCode {
  /// A condition of `load --fail-if` holds.
  static let conditionHolds = ExitCode(rawValue: 20)
}
