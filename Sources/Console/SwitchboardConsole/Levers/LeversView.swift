import ConsoleMessages
import SwitchboardCall
import SwitchboardTelemetry
import SwitchboardTransport

/// Makes the view of what can be changed while the process runs.
struct LeversView: ConsoleView {
  static let name = "levers"

  let telemetry: Telemetry?
  let entries: ConsoleEntries
  let levels: LogLevels
  let taker: ProfileTaker

  func waitsFor(_ query: ViewQuery) -> String { "" }

  func answer(_ query: ViewQuery) async -> Switchboard_Console_V1_LeversView {
    var view = Switchboard_Console_V1_LeversView()
    let logs = levels.logs(query)
    view.logCount = UInt32(clamping: logs.count)
    view.logs = Array(query.part(of: logs))
    view.methodLogs = levels.methodLogs
    view.samplingMissing = SamplingAction.missing(telemetry)
    view.sampler = telemetry?.options.sampler.shown ?? ""
    view.sampling = (telemetry?.pulledSampling ?? []).map { pulled in
      .with {
        $0.method = ServedMethods.name(pulled.path)
        $0.share = pulled.share
        $0.secondsLeft = pulled.left / .seconds(1)
      }
    }
    view.sampling.sort { $0.secondsLeft < $1.secondsLeft }
    view.methods = ServedMethods(entries).containing(query.selected)
    if var profile = taker.latest {
      // The view of the profile has them.
      profile.frames = []
      view.profile = profile
    }
    return view
  }
}
