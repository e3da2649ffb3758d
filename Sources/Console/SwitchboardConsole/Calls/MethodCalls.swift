import SwitchboardCall
import SwitchboardTelemetry

/// The calls of one method that are kept: the slowest, those that failed, and those with a timeline.
struct MethodCalls: Sendable {
  let called: CalledMethod
  /// The slowest calls of each part of the time that is kept.
  private var slow: [(period: Int, call: KeptCall)] = []
  private var failed: [KeptCall] = []
  private var timed: [KeptCall] = []

  /// How many of the slowest are kept of each period.
  static let mostSlow = 8
  /// How many failures are kept.
  static let mostFailed = 20
  /// How many calls with a timeline are kept of each bucket.
  static let mostTimed = 4

  init(_ called: CalledMethod) { self.called = called }

  /// Keeps a call that has ended in this period. From then on, the telemetry tells of calls that are slower than the fastest
  /// of the slowest.
  mutating func add(_ call: KeptCall, in period: Int) {
    if call.call.status.code != .ok { addFailed(call) }
    if call.call.isTimed { addTimed(call) }
    addSlow(call, in: period)
  }

  private mutating func addSlow(_ call: KeptCall, in period: Int) {
    slow.append((period, call))
    var known = slow.indices.filter { slow[$0].period == period }
    if known.count > Self.mostSlow, let fastest = known.min(by: { duration($0) < duration($1) }) {
      slow.remove(at: fastest)
      known = slow.indices.filter { slow[$0].period == period }
    }
    guard known.count == Self.mostSlow else { return }
    called.slowness = (known.map(duration).min() ?? 0) + 1
  }

  private func duration(_ index: Int) -> Int {
    slow[index].call.call.duration
  }

  /// A status that is frequent does not displace one that is rare.
  private mutating func addFailed(_ call: KeptCall) {
    failed.append(call)
    guard failed.count > Self.mostFailed else { return }
    var counts = [Int](repeating: 0, count: 17)
    for each in failed { counts[each.call.status.code.rawValue] += 1 }
    let most = counts.max() ?? 0
    if let oldest = failed.firstIndex(where: { counts[$0.call.status.code.rawValue] == most }) {
      failed.remove(at: oldest)
    }
  }

  private mutating func addTimed(_ call: KeptCall) {
    let bucket = LatencyBucket(nanoseconds: call.call.duration)
    timed.append(call)
    let same = timed.indices.filter { LatencyBucket(nanoseconds: timed[$0].call.duration) == bucket }
    if same.count > Self.mostTimed, let oldest = same.first { timed.remove(at: oldest) }
  }

  /// A new period begins: the telemetry tells of its first calls.
  func beginPeriod() { called.slowness = 0 }

  /// Forgets the calls that ended before this moment.
  mutating func forget(before start: ContinuousClock.Instant) {
    slow.removeAll { $0.call.end < start }
    failed.removeAll { $0.end < start }
    timed.removeAll { $0.end < start }
  }

  var isEmpty: Bool { slow.isEmpty && failed.isEmpty && timed.isEmpty }

  /// The calls of one kind.
  func calls(_ kind: ViewQuery.CallKind) -> [KeptCall] {
    switch kind {
    case .slowest: slow.map(\.call)
    case .failed: failed
    case .timed: timed
    case .underWay: []
    }
  }

  var all: [KeptCall] { slow.map(\.call) + failed + timed }

  /// About how many bytes they take.
  var cost: Int { all.reduce(0) { $0 + $1.cost } }
}
