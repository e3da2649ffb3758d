import LoadMessages
import Switchboard
import SwitchboardLoad

/// Looks for the highest rate at which conditions hold.
struct LoadSearch {
  let request: LoadRequest
  let agents: LoadAgentList?
  let view: LoadView
  let output: LoadOutput

  /// The share of due calls that a server must complete to keep up.
  private static let keptUp = 0.97

  func run() async throws -> ExitCode {
    let started = LoadOutput.timestamp
    var search = LimitSearch(start: request.plan.hasRate ? request.plan.rate.to : 100)
    var best: (rate: Double, tally: LoadTally)?
    let isInterrupted = Locked(false)
    while let rate = search.next, !isInterrupted.withLock({ $0 }) {
      var plan = request.plan
      plan.rate = .with {
        $0.from = rate
        $0.to = rate
      }
      let tally = try await LoadVerb.measure(plan, request, agents, view) {
        isInterrupted.withLock { $0 = true }
      }
      if isInterrupted.withLock({ $0 }) { break }
      let reason = failure(of: tally, at: rate)
      search.record(reason == nil)
      if reason == nil, rate >= best?.rate ?? 0 { best = (rate, tally) }
      Output.note(
        "\(Figure.rate(rate))  \(reason ?? "passes")  p99 \(Figure.time(tally.latency.quantile(0.99)))"
      )
      LoadVerb.warnIfLate(tally)
    }
    guard let best else {
      throw Failure(
        isInterrupted.withLock { $0 }
          ? "stopped before any rate was tried" : "no rate passes, not even the lowest",
        code: .conditionHolds
      )
    }
    let report = LoadTestReport(
      best.tally,
      target: request.target.text,
      method: request.method,
      started: started,
      load: "\(Figure.rate(best.rate)), the highest rate that passes"
    )
    try output.write(report, best.tally)
    return .success
  }

  /// The reason why a rate fails; nil if it passes.
  private func failure(of tally: LoadTally, at rate: Double) -> String? {
    if let broken = request.findMax.first(where: { !$0.holds(in: tally) }) {
      return "fails: not \(broken.description(in: tally))"
    }
    let due = rate * request.plan.durationSeconds
    guard Double(tally.calls) >= due * Self.keptUp, tally.rate >= rate * Self.keptUp else {
      return "fails: only \(Figure.rate(tally.rate)) are completed"
    }
    return nil
  }
}
