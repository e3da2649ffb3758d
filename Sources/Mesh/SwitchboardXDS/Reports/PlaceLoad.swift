import SwitchboardBalancing
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText
import Synchronization
import XDSMessages

/// Counts the calls to the servers of a place, for a report.
final class PlaceLoad: Sendable {
  /// A sum, and of how many calls.
  private struct Sum {
    var calls: UInt64 = 0
    var total = 0.0

    /// A value is left out with which the sum would be no number.
    mutating func add(_ value: Double) {
      guard (total + value).isFinite else { return }
      calls += 1
      total += value
    }

    var message: Envoy_Config_Endpoint_V3_UnnamedEndpointLoadMetricStats {
      .with { ($0.numRequestsFinishedWithMetric, $0.totalMetricValue) = (calls, total) }
    }
  }

  /// What there is to report.
  private struct Counts {
    var issued: UInt64 = 0
    var succeeded: UInt64 = 0
    var failed: UInt64 = 0
    var cpu = Sum()
    var memory = Sum()
    var application = Sum()
    var named: [NamedMetric: Sum] = [:]
  }

  private struct State {
    var counts = Counts()
    /// The calls that have not ended.
    var current: UInt64 = 0
    /// Those who may count more.
    var users = 0
  }

  private let names: NameBudget
  private let state = Locked(State())

  init(_ names: NameBudget) { self.names = names }

  deinit { names.giveBack(state.withLock { $0.counts.named.count }) }

  func used() { state.withLock { $0.users += 1 } }
  func unused() { state.withLock { $0.users -= 1 } }
  /// Whether nobody counts any more.
  var isUnused: Bool { state.withLock { $0.users == 0 } }

  func began() {
    state.withLock { state in
      state.counts.issued += 1
      state.current += 1
    }
  }

  /// `rule` says which metrics of the server count.
  func ended(_ outcome: CallOutcome, _ rule: MetricRule) {
    state.withLock { state in
      state.current -= min(1, state.current)
      guard let status = outcome.status else {
        // It was not made.
        state.counts.issued -= min(1, state.counts.issued)
        return
      }
      if status.code == .ok { state.counts.succeeded += 1 } else { state.counts.failed += 1 }
      guard let report = outcome.loadReport else { return }
      // What is 0 may as well be unknown.
      if rule.cpuUtilization, report.cpuUtilization > 0 { state.counts.cpu.add(report.cpuUtilization) }
      if rule.memoryUtilization, report.memoryUtilization > 0 {
        state.counts.memory.add(report.memoryUtilization)
      }
      if rule.applicationUtilization, report.applicationUtilization > 0 {
        state.counts.application.add(report.applicationUtilization)
      }
      guard rule.hasNames else { return }
      for (name, value) in report.namedMetrics {
        guard let metric = NamedMetric(name), rule.has(metric) else { continue }
        if state.counts.named[metric] != nil || names.take() {
          state.counts.named[metric, default: Sum()].add(value)
        }
      }
    }
  }

  /// What there is to report, which is forgotten then; `nil` if that is nothing.
  func report() -> Envoy_Config_Endpoint_V3_UpstreamLocalityStats? {
    let (counts, current) = state.withLock { state in
      defer { state.counts = Counts() }
      return (state.counts, state.current)
    }
    names.giveBack(counts.named.count)
    guard counts.issued + counts.succeeded + counts.failed + current > 0 else { return nil }
    return .with { message in
      message.totalIssuedRequests = counts.issued
      message.totalSuccessfulRequests = counts.succeeded
      message.totalErrorRequests = counts.failed
      message.totalRequestsInProgress = current
      if counts.cpu.calls > 0 { message.cpuUtilization = counts.cpu.message }
      if counts.memory.calls > 0 { message.memUtilization = counts.memory.message }
      if counts.application.calls > 0 { message.applicationUtilization = counts.application.message }
      message.loadMetricStats = counts.named.map { metric, sum in
        .with { part in
          part.metricName = metric.name.text
          (part.numRequestsFinishedWithMetric, part.totalMetricValue) = (sum.calls, sum.total)
        }
      }
    }
  }
}

/// How many names of metrics may be kept until the next report: servers choose them.
final class NameBudget: Sendable {
  static let limit = 16_384

  private let used = Atomic(0)

  /// Whether there is room for one more.
  func take() -> Bool {
    guard used.add(1, ordering: .relaxed).newValue > Self.limit else { return true }
    giveBack(1)
    return false
  }

  func giveBack(_ count: Int) { used.subtract(count, ordering: .relaxed) }
}
