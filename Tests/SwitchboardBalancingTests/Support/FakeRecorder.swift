import SwitchboardBalancing
import SwitchboardCall

/// Keeps what is recorded, by the names of the instruments.
final class FakeRecorder: MetricRecorder {
  private final class Series: MetricSeries {
    let name: String
    let labels: [String: String]
    let owner: FakeRecorder

    init(_ name: String, _ labels: [String: String], _ owner: FakeRecorder) {
      self.name = name
      self.labels = labels
      self.owner = owner
    }

    func record(_ values: [Double]) {
      owner.state.withLock { state in
        state.values[name, default: []] += values
        state.labels[name] = labels
      }
    }
  }

  struct State {
    var values: [String: [Double]] = [:]
    /// Of the series that recorded last.
    var labels: [String: [String: String]] = [:]
    var instruments: [String: Instrument] = [:]
  }

  let state = Locked(State())
  private let off: Set<String>

  init(off: Set<String> = []) { self.off = off }

  func series(of instrument: Instrument, _ labels: [String: String]) -> (any MetricSeries)? {
    state.withLock { $0.instruments[instrument.name] = instrument }
    guard !off.contains(instrument.name), !off.contains("*") else { return nil }
    let names = instrument.labels + instrument.optionalLabels
    return Series(instrument.name, labels.filter { names.contains($0.key) }, self)
  }

  var scope: MetricScope { MetricScope(self, ["grpc.target": "dns:///a", "other": "x"]) }

  /// What was recorded since the last time.
  func take(_ name: String) -> [Double] { state.withLock { $0.values.removeValue(forKey: name) ?? [] } }

  func labels(_ name: String) -> [String: String]? { state.withLock { $0.labels[name] } }
}
