import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTelemetry
import SwitchboardTransport

/// The views of a console, and what they are made of.
final class ConsoleViews: Sendable {
  private let source: any ConsoleSource
  /// What can be called, and the calls that viewers make.
  let targets: CallTargets
  let calls: CallSessions
  private let telemetry: Telemetry?
  private let use: ConsoleUse
  private let clock: ConsoleClock
  let all: [any ConsoleView]

  init(_ source: any ConsoleSource, _ telemetry: Telemetry?, _ clock: ConsoleClock, _ use: ConsoleUse) {
    self.source = source
    self.telemetry = telemetry
    self.use = use
    self.clock = clock
    targets = CallTargets(schemas: TargetSchemas(clock)) { source.targets }
    calls = CallSessions(clock)
    all =
      [
        NowView(source: source.now), source.calls, ConnectionsView(nodes: source.nodes),
        TryView(targets: targets, clock: clock), FormView(targets: targets),
      ] + source.ownViews
  }

  /// What only a console of its own process can do.
  var ownActions: [any ConsoleAction] { source.ownActions }

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
    await source.look()
  }

  // MARK: Pages

  /// A page for each view, of which `answer` makes the responses.
  func pages(
    at place: ConsolePlace,
    _ answer: @escaping @Sendable (any ConsoleView, HTTPPage.Request) async -> HTTPPage.Response
  ) -> [HTTPPage] {
    all.map { view in HTTPPage("GET", place.path(type(of: view).name)) { await answer(view, $0) } }
  }

  /// The queue in which a view answers.
  func queue(of view: any ConsoleView, _ text: String?) -> String {
    (try? ViewQuery(text)).map { view.waitsFor($0) } ?? ""
  }

  func answer(_ view: any ConsoleView, _ text: String?) async -> HTTPPage.Response {
    do throws(ViewQuery.Mistake) {
      let query = try ViewQuery(text)
      use.pageWasRead(showsAny: source.wasFilled)
      telemetry?.pageWasRead()
      return await view.response(to: query)
    } catch {
      return .text(400, error.text)
    }
  }
}
