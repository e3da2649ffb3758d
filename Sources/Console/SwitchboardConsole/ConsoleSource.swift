import SwitchboardCall
import SwitchboardServices
import SwitchboardTelemetry
import SwitchboardTransport

/// Where a console has what it shows from.
protocol ConsoleSource: Sendable {
  var now: any NowSource { get }
  var calls: CallsView { get }
  var nodes: any NodeSource { get }
  /// What can be called.
  var targets: [any CallTarget] { get }
  /// The views and the actions that only a console of its own process has.
  var ownViews: [any ConsoleView] { get }
  var ownActions: [any ConsoleAction] { get }
  /// Whether there was ever anything to show.
  var wasFilled: Bool { get }
  /// Reads the figures, every few seconds.
  func look() async
}

/// The process itself: its servers and channels, and what its telemetry counts.
struct LocalSource: ConsoleSource {
  private let entries: ConsoleEntries
  private let clock: ConsoleClock
  private let history: CallWatch?
  private let log: CallLog?
  private let loops: LoopWatch
  private let lists = ConnectionLists()
  let now: any NowSource
  let calls: CallsView
  let nodes: any NodeSource
  let ownViews: [any ConsoleView]
  let ownActions: [any ConsoleAction]

  init(_ entries: ConsoleEntries, _ telemetry: Telemetry?, _ options: ConsoleOptions, _ clock: ConsoleClock)
    throws(GRPCStatus)
  {
    self.entries = entries
    self.clock = clock
    let history = telemetry.map { CallWatch($0, limit: options.maxMethods, clock.time) }
    self.history = history
    let shown = ShownMetadata(options.shownMetadata)
    let log = telemetry.flatMap { CallLog.of($0, shown, maxMethods: options.maxMethods, clock.time) }
    self.log = log
    let link = try options.traceLink.map { template throws(GRPCStatus) in try TraceLink(template) }
    loops = LoopWatch(clock.time)
    now = LocalNow(
      telemetry: telemetry,
      watch: history,
      loops: loops,
      entries: entries,
      clock: clock,
      start: clock.time.now
    )
    calls = CallsView(
      telemetry: telemetry,
      log: log,
      entries: entries,
      clock: clock,
      shown: shown,
      link: link
    )
    nodes = LocalNodes(entries: entries, clock: clock, lists: lists)
    let levers = ConsoleLevers(telemetry, entries, clock)
    ownViews = [ConfigurationView(telemetry: telemetry, entries: entries, clock: clock)] + levers.views
    ownActions = levers.actions
  }

  var targets: [any CallTarget] {
    entries.servers.map { ServerTarget($0) } + entries.channels.map { ChannelTarget($0) }
  }

  var wasFilled: Bool { entries.wasFilled }

  func look() async {
    history?.look()
    log?.look()
    lists.forgetOld(at: clock.time.now)
    var used: [ServerSnapshot.LoopUse] = []
    for known in entries.servers { used += await clock.figures(of: known.server)?.loops ?? [] }
    loops.look(at: used)
  }
}

/// A server of another process.
struct RemoteSource: ConsoleSource {
  private let watch: RemoteWatch
  private let target: ChannelTarget
  let now: any NowSource
  let calls: CallsView
  let nodes: any NodeSource

  init(_ remote: RemoteServer, maxMethods: Int, _ clock: ConsoleClock) {
    let target = ChannelTarget(remote.channel, remote.peer, remote.reach)
    let schemas = TargetSchemas(clock)
    watch = RemoteWatch(remote, limit: maxMethods, clock)
    let health = RemoteHealth(remote, clock) {
      (try? await schemas.schema(of: target))?.schema.services.map(\.fullName) ?? []
    }
    now = RemoteNow(remote: remote, watch: watch, health: health)
    calls = CallsView(
      telemetry: nil,
      log: nil,
      entries: ConsoleEntries(),
      clock: clock,
      shown: ShownMetadata([]),
      link: nil,
      withoutTelemetry: "\(remote.peer.text) tells of no single calls: a console of its own shows them"
    )
    nodes = RemoteNodes(remote, clock)
    self.target = target
  }

  var targets: [any CallTarget] { [target] }
  var ownViews: [any ConsoleView] { [] }
  var ownActions: [any ConsoleAction] { [] }
  var wasFilled: Bool { true }

  func look() async { await watch.look() }
}
