import ConsoleMessages
import SwitchboardCall
import SwitchboardTelemetry
import SwitchboardTransport

/// Makes the view of single calls.
struct CallsView: ConsoleView {
  static let name = "calls"

  let telemetry: Telemetry?
  let log: CallLog?
  let entries: ConsoleEntries
  let clock: ConsoleClock
  let shown: ShownMetadata
  let link: TraceLink?
  /// Why there are no calls without telemetry.
  var withoutTelemetry = "the console has no telemetry, so that it has no calls: Console(telemetry:)"

  /// The most calls in progress that can be reached: those that have begun first.
  private static let mostInProgress = 1000

  func waitsFor(_ query: ViewQuery) -> String { "" }

  func answer(_ query: ViewQuery) async -> Switchboard_Console_V1_CallsView {
    var view = Switchboard_Console_V1_CallsView()
    guard let telemetry, let log else {
      view.missing =
        telemetry == nil
        ? withoutTelemetry
        : "the telemetry counts no calls: TelemetryOptions.countsCalls"
      return view
    }
    view.timingSeconds = log.somebodyLooks() / .seconds(1)
    let isServer = query.side == .server
    guard query.callKind == .underWay else {
      let calls = log.calls(query.callKind, ofServers: isServer).filter { query.includes($0) }
        .sorted { query.callKind.precedes($0, $1) }
      view.callCount = UInt32(clamping: calls.count)
      var shown = Array(query.part(of: calls))
      view.calls = shown.map { .init($0) }
      if let call = log.call(query.selected, ofServers: isServer) {
        view.selected = detail(of: call)
        shown.append(call)
      }
      log.show(shown)
      return view
    }
    let progress = CallsUnderWay(telemetry: telemetry, entries: entries, clock: clock)
    let found = await progress.calls(query, limit: Self.mostInProgress)
    view.silent = found.silent
    view.callCount = UInt32(clamping: min(found.calls.count, Self.mostInProgress))
    view.calls = query.part(of: found.calls).map(\.message)
    if let call = found.calls.first(where: { $0.id.utf8.elementsEqual(query.selected) }) {
      view.selected = detail(of: call, telemetry)
    } else if let call = log.call(query.selected, ofServers: isServer) {
      // It has ended meanwhile.
      view.selected = detail(of: call)
      log.show([call])
    }
    return view
  }

  // MARK: One call

  private func detail(of kept: KeptCall) -> Switchboard_Console_V1_CallDetail {
    let call = kept.call
    var detail = Switchboard_Console_V1_CallDetail()
    detail.call = .init(kept)
    detail.message = kept.message
    add(call.identity, to: &detail)
    (detail.sent, detail.received) = (.init(call.sent), .init(call.received))
    detail.metadata = kept.fields.map { .init($0, shown) }
    detail.fieldsLeftOut = UInt32(clamping: kept.fieldsLeftOut)
    detail.stages = kept.lanes.map { .init($0) }
    if let resolved = call.resolved {
      detail.stages.insert(.init("Name resolution", nanoseconds: 0..<resolved), at: 0)
    }
    detail.attempts = call.attempts.map { .init($0) }
    return detail
  }

  private func detail(of call: CallsUnderWay.Found, _ telemetry: Telemetry)
    -> Switchboard_Console_V1_CallDetail
  {
    var detail = Switchboard_Console_V1_CallDetail()
    detail.call = call.message
    let snapshot = call.snapshot
    add(telemetry.identity(snapshot.stamp, snapshot.tracer), to: &detail)
    (detail.sent, detail.received) = (.init(snapshot.sent), .init(snapshot.received))
    let (fields, leftOut) = KeptCall.fields(snapshot.headers, shown)
    detail.metadata = fields.map { .init($0, shown) }
    detail.fieldsLeftOut = UInt32(clamping: leftOut)
    detail.stages = call.timeline?.lanes.map { .init($0) } ?? []
    return detail
  }

  private func add(_ identity: SpanIdentity, to detail: inout Switchboard_Console_V1_CallDetail) {
    guard let (trace, span) = identity.shown else { return }
    detail.call.traceID = trace
    detail.spanID = span
    detail.traceLink = link?.address(trace: trace, span: span) ?? ""
  }
}

extension ViewQuery {
  /// Whether a call is one of those that are asked for.
  fileprivate func includes(_ kept: KeptCall) -> Bool {
    let call = kept.call
    guard bucket.map({ $0 == LatencyBucket(nanoseconds: call.duration) }) ?? true else { return false }
    return includes(call.called.name) || includes(call.called.target) || includes(call.peer)
      || includes(call.status.code.specName) || call.attempts.contains { includes($0.server) }
      || call.identity.shown.map { includes($0.trace) } ?? false
  }
}

extension ViewQuery.CallKind {
  /// Whether a call is shown before another: the slowest first, and of other kinds the latest.
  fileprivate func precedes(_ one: KeptCall, _ other: KeptCall) -> Bool {
    switch self {
    case .slowest, .underWay: one.call.duration > other.call.duration
    case .failed, .timed: one.end > other.end
    }
  }
}
