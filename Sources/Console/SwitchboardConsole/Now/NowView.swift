import ConsoleMessages
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardServices
import SwitchboardTelemetry
import SwitchboardTransport

/// Makes the view of what goes on now.
struct NowView: ConsoleView {
  static let name = "now"

  let source: any NowSource

  func waitsFor(_ query: ViewQuery) -> String { source.waitsFor }

  func answer(_ query: ViewQuery) async -> Switchboard_Console_V1_NowView {
    var view = Switchboard_Console_V1_NowView()
    view.stepSeconds = CallHistory.step
    await source.fill(&view)
    if let calls = source.calls(of: query.side) { view.add(calls, query) }
    return view
  }
}

/// Where the view of what goes on has its figures from.
protocol NowSource: Sendable {
  /// Names what it waits for outside of the process; empty if for nothing.
  var waitsFor: String { get }
  /// All but the figures of calls; and why these are missing.
  func fill(_ view: inout Switchboard_Console_V1_NowView) async
  /// `nil` if there are none.
  func calls(of side: ViewQuery.Side) -> CallHistory?
}

/// What the process itself does.
struct LocalNow: NowSource {
  var waitsFor: String { "" }

  let telemetry: Telemetry?
  let watch: CallWatch?
  let loops: LoopWatch
  let entries: ConsoleEntries
  let clock: ConsoleClock
  let start: ContinuousClock.Instant

  /// The most servers and loops that are shown: a process has few.
  private static let mostShown = 100

  func fill(_ view: inout Switchboard_Console_V1_NowView) async {
    view.process = process
    await addServers(to: &view)
    for (abuse, count) in (telemetry?.abuses ?? [:]).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      view.abuses.append(.with { ($0.name, $0.count) = (abuse.rawValue, UInt64(count)) })
    }
    if !countsCalls { view.missing = missing } else if isUnobserved(view) { view.missing = Self.unobserved }
  }

  func calls(of side: ViewQuery.Side) -> CallHistory? { countsCalls ? watch?.current.calls(of: side) : nil }

  private var countsCalls: Bool { telemetry?.countsCalls ?? false }

  /// Whether its servers have had calls, and the telemetry none of any server.
  private func isUnobserved(_ view: Switchboard_Console_V1_NowView) -> Bool {
    guard let telemetry, view.servers.contains(where: { $0.callsStarted > 0 }) else { return false }
    return telemetry.totals(ofServers: true).allSatisfy { $0.started == 0 }
  }

  private static let unobserved =
    "the servers have had calls that the console's telemetry did not observe: ServerOptions.observer = telemetry.observer()"

  private var missing: String {
    telemetry == nil
      ? "the console has no telemetry, so that it has no figures of calls: Console(telemetry:)"
      : "the telemetry counts no calls: TelemetryOptions.countsCalls"
  }

  private var process: Switchboard_Console_V1_Process {
    .with {
      $0.name = telemetry?.serviceName ?? ""
      $0.time = .now()
      $0.watchedSeconds = start.duration(to: clock.time.now) / .seconds(1)
      $0.memoryBytes = ProcessMemory.resident
      $0.processors = UInt32(ProcessMemory.processors)
    }
  }

  // MARK: Servers

  private func addServers(to view: inout Switchboard_Console_V1_NowView) async {
    var served: [ObjectIdentifier: (names: [String], connections: Int)] = [:]
    var order: [ObjectIdentifier] = []
    for known in entries.servers.prefix(Self.mostShown) {
      guard let snapshot = await clock.figures(of: known.server) else {
        view.servers.append(.with { ($0.name, $0.isSilent) = (known.name, true) })
        continue
      }
      view.servers.append(.init(known.name, snapshot))
      for loop in snapshot.loops {
        if served[loop.id] == nil { order.append(loop.id) }
        served[loop.id, default: ([], 0)].names.append(known.name)
        served[loop.id]?.connections += loop.connections
      }
    }
    for id in order.prefix(Self.mostShown) {
      view.loops.append(
        .with {
          $0.name = served[id]?.names.joined(separator: ", ") ?? ""
          $0.connections = UInt32(clamping: served[id]?.connections ?? 0)
          $0.load = loops.load(of: id)
        }
      )
    }
  }
}

extension Switchboard_Console_V1_NowView {
  fileprivate mutating func add(_ history: CallHistory, _ query: ViewQuery) {
    if let total = history.total { self.total = .init(total.periods) }
    let found = history.methods.filter { query.includes($0.key.method) || query.includes($0.key.target) }
    let lines = found.map { (key: $0.key, latest: $0.value.latest) }
      .sorted { query.order.precedes(($0.key, $0.latest), ($1.key, $1.latest)) }
    methodCount = UInt32(clamping: lines.count)
    methods = query.part(of: lines).map { line in
      .init(line.key, line.latest, (found[line.key]?.periods ?? []).suffix(Self.sparkline), ratesOnly: true)
    }
    let selected = history.methods.first { key, _ in
      key.method.utf8.elementsEqual(query.selected) && key.target.utf8.elementsEqual(query.target)
    }
    guard let selected, !query.selected.isEmpty else { return }
    self.selected = .init(
      selected.key,
      selected.value.latest,
      selected.value.periods[...],
      ratesOnly: false
    )
  }

  /// How many periods a line of the table draws.
  private static let sparkline = 36
}

extension ViewQuery.Order {
  fileprivate typealias Line = (key: CallHistory.Key, latest: MethodHistory.Period)

  /// Whether a line comes before another: the largest figure first, and lines with the same by their names.
  fileprivate func precedes(_ one: Line, _ other: Line) -> Bool {
    let (first, second) = (figure(one.latest), figure(other.latest))
    if first != second { return first > second }
    return (one.key.method, one.key.target) < (other.key.method, other.key.target)
  }

  private func figure(_ period: MethodHistory.Period) -> Float {
    switch self {
    case .rate: period.rate
    case .errors: period.errors
    case .p99: period.p99.isNaN ? -1 : period.p99
    case .inFlight: Float(period.inFlight)
    case .name: 0
    }
  }
}

extension Switchboard_Console_V1_Server {
  fileprivate init(_ name: String, _ snapshot: ServerSnapshot) {
    self.init()
    self.name = name
    // Several loops may listen on one address.
    for address in snapshot.listeners.map({ "\($0.address)" }) where !addresses.contains(address) {
      addresses.append(address)
    }
    connections = UInt32(clamping: snapshot.connectionCount)
    isDraining = snapshot.isDraining
    callsStarted = UInt64(clamping: snapshot.calls.started)
    callsFailed = UInt64(clamping: snapshot.calls.failed)
  }
}

extension Switchboard_Console_V1_Method {
  fileprivate init(
    _ key: CallHistory.Key,
    _ latest: MethodHistory.Period,
    _ periods: ArraySlice<MethodHistory.Period>,
    ratesOnly: Bool
  ) {
    self.init()
    name = key.method
    target = key.target
    (rate, errors) = (latest.rate, latest.errors)
    (median, p90, p99) = (latest.median, latest.p90, latest.p99)
    inFlight = latest.inFlight
    series = ratesOnly ? .with { $0.rate = periods.map(\.rate) } : .init(Array(periods))
  }
}

extension Switchboard_Console_V1_Series {
  fileprivate init(_ periods: [MethodHistory.Period]) {
    self.init()
    rate = periods.map(\.rate)
    errors = periods.map(\.errors)
    median = periods.map(\.median)
    p90 = periods.map(\.p90)
    p99 = periods.map(\.p99)
    inFlight = periods.map { Float($0.inFlight) }
  }
}
