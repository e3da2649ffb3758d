import SwitchboardTelemetry

/// What can be changed while the process runs: what it is made of, its views and its actions.
struct ConsoleLevers: Sendable {
  let views: [any ConsoleView]
  let actions: [any ConsoleAction]

  init(_ telemetry: Telemetry?, _ entries: ConsoleEntries, _ clock: ConsoleClock) {
    let levels = LogLevels(entries)
    let taker = ProfileTaker(entries, clock)
    views = [
      LeversView(telemetry: telemetry, entries: entries, levels: levels, taker: taker),
      ProfileView(taker: taker),
    ]
    actions = [
      DrainAction(entries: entries, loop: clock.loop),
      LogLevelAction(levels: levels),
      SamplingAction(telemetry: telemetry, entries: entries),
      ProfileAction(taker: taker),
    ]
  }
}
