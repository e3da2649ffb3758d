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

  /// The most methods to choose from at once.
  private static let mostMethods = 20

  func waitsFor(_ query: ViewQuery) -> String { "" }

  func answer(_ query: ViewQuery) async -> Switchboard_Console_V1_LeversView {
    var view = Switchboard_Console_V1_LeversView()
    let logs = levels.logs(query)
    view.logCount = UInt32(clamping: logs.count)
    view.logs = Array(query.part(of: logs))
    view.samplingMissing = SamplingAction.missing(telemetry)
    view.sampler = telemetry?.options.sampler.shown ?? ""
    view.sampling = (telemetry?.pulledSampling ?? []).map { pulled in
      .with {
        $0.method = Self.name(pulled.path)
        $0.share = pulled.share
        $0.secondsLeft = pulled.left / .seconds(1)
      }
    }
    view.sampling.sort { $0.secondsLeft < $1.secondsLeft }
    view.methods = methods(query.selected)
    if var profile = taker.latest {
      // The view of the profile has them.
      profile.frames = []
      view.profile = profile
    }
    return view
  }

  /// Methods of the servers whose names contain this.
  private func methods(_ part: [UInt8]) -> [String] {
    let names = Set(
      entries.servers.flatMap { $0.server.methodPaths.values.map(Self.name) }.map { Array($0.utf8) }
    )
    let found = names.filter { name in
      part.isEmpty || name.indices.contains { name[$0...].starts(with: part) }
    }
    return found.sorted { $0.lexicographicallyPrecedes($1) }.prefix(Self.mostMethods)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  static func name(_ path: String) -> String {
    String(decoding: path.utf8.dropFirst(), as: UTF8.self)
  }
}
