import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTelemetry
import SwitchboardTransport

/// The views of a console, and what they are made of.
final class ConsoleViews: Sendable {
  let entries = ConsoleEntries()
  let levers: ConsoleLevers
  private let telemetry: Telemetry?
  private let use: ConsoleUse
  private let clock: ConsoleClock
  private let calls: CallWatch?
  private let log: CallLog?
  private let loops: LoopWatch
  let all: [any ConsoleView]

  init(_ telemetry: Telemetry?, _ options: ConsoleOptions, _ clock: ConsoleClock, _ use: ConsoleUse)
    throws(GRPCStatus)
  {
    self.telemetry = telemetry
    self.use = use
    calls = telemetry.map { CallWatch($0, limit: options.maxMethods, clock.time) }
    let shown = ShownMetadata(options.shownMetadata)
    log = telemetry.flatMap { CallLog.of($0, shown, maxMethods: options.maxMethods, clock.time) }
    let link = try options.traceLink.map { template throws(GRPCStatus) in try TraceLink(template) }
    self.clock = clock
    loops = LoopWatch(clock.time)
    levers = ConsoleLevers(telemetry, entries, clock)
    all =
      [
        NowView(
          telemetry: telemetry,
          calls: calls,
          loops: loops,
          entries: entries,
          clock: clock,
          start: clock.time.now
        ),
        CallsView(telemetry: telemetry, log: log, entries: entries, clock: clock, shown: shown, link: link),
        ConnectionsView(entries: entries, clock: clock),
        ConfigurationView(telemetry: telemetry, entries: entries, clock: clock),
      ] + levers.views
  }

  /// Looks at what goes on every few seconds, until the task is cancelled.
  func watch() async {
    let time = clock.time
    var next = time.now
    while !Task.isCancelled {
      next = next.advanced(by: .seconds(CallHistory.step))
      // After a pause of the process, whole periods begin anew.
      if next <= time.now { next = time.now.advanced(by: .seconds(CallHistory.step)) }
      guard (try? await time.sleep(until: next, on: clock.loop)) != nil else { return }
      await look()
    }
  }

  /// Ends a period.
  func look() async {
    calls?.look()
    log?.look()
    var used: [ServerSnapshot.LoopUse] = []
    for known in entries.servers { used += await clock.figures(of: known.server)?.loops ?? [] }
    loops.look(at: used)
  }

  // MARK: Pages

  /// A page for each view, of which `answer` makes the responses.
  func pages(
    at place: ConsolePlace,
    _ answer: @escaping @Sendable (any ConsoleView, HTTPPage.Request) async -> HTTPPage.Response
  ) -> [HTTPPage] {
    all.map { view in HTTPPage("GET", place.path(type(of: view).name)) { await answer(view, $0) } }
  }

  func answer(_ view: any ConsoleView, _ text: String?) async -> HTTPPage.Response {
    do throws(ViewQuery.Mistake) {
      let query = try ViewQuery(text)
      use.pageWasRead(showsAny: entries.wasFilled)
      telemetry?.pageWasRead()
      return await view.response(to: query)
    } catch {
      return .text(400, error.text)
    }
  }
}
