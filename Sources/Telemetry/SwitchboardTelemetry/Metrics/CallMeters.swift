import SwitchboardCall

/// The meters of one side's calls: one for each method on servers, and for each method and target on clients.
///
/// A server's methods are known, but clients can call any number of methods and targets. Each side has at most `limit`
/// meters. Calls of further methods count under the method `other`, and those to further targets under the target
/// `other`. A meter has a series for each status with which calls have ended. Servers choose the statuses, so there are
/// at most `limit` series besides the first one of each meter, and further calls count under `other`.
///
/// If the program asks for optional labels, attempts have a meter for each combination of their values.
final class CallMeters: MetricSource {
  struct Key: Hashable, Sendable {
    let method: String
    /// The target. Empty on servers.
    let target: String
    /// The values of the optional labels. Empty for the meter of the calls and of attempts without such values.
    var labels: [String] = []
  }

  private struct State: Sendable {
    var meters: [Key: CallMeter] = [:]
    var targets: Set<String> = []
    var count = 0
  }

  let isServer: Bool
  private let limit: Int
  /// The optional labels of attempts that the program asks for.
  let labels: [String]
  private let budget: SeriesBudget
  private let keeping: CallKeeping
  private let state = Locked(State())

  init(isServer: Bool, limit: Int, labels: [String] = [], _ keeping: CallKeeping = CallKeeping()) {
    self.isServer = isServer
    self.limit = limit
    self.keeping = keeping
    self.labels = labels
    budget = SeriesBudget(limit)
  }

  /// The meter for these labels. `labels` has the values of the optional labels, or none if all are empty.
  func meter(method: String, target: String, labels: [String] = []) -> CallMeter {
    state.withLock { state in
      let key = Key(method: method, target: target, labels: labels)
      if let known = state.meters[key] { return known }
      if state.count < limit {
        state.count += 1
        return make(key, &state)
      }
      // A known target keeps its label, which adds at most one meter for each.
      let isKnownTarget = target.isEmpty || state.targets.contains(target)
      let rest = Key(
        method: Self.other,
        target: isKnownTarget ? target : Self.other,
        labels: labels.map { _ in Self.other }
      )
      return state.meters[rest] ?? make(rest, &state)
    }
  }

  /// The meter of the calls for which there may be no more series.
  private var rest: Key { Key(method: Self.other, target: isServer ? "" : Self.other) }

  private func make(_ key: Key, _ state: inout State) -> CallMeter {
    var attributes = [Attribute("grpc.method", .string(key.method))]
    if !isServer { attributes.append(Attribute("grpc.target", .string(key.target))) }
    let rest = rest
    let bounds = CallMeter.Bounds(left: budget) { [weak self] in
      self?.state.withLock { state in state.meters[rest] ?? self?.make(rest, &state) }
    }
    let values = key.labels.isEmpty ? labels.map { _ in "" } : key.labels
    let meter = CallMeter(
      attributes,
      attemptAttributes: attributes + zip(labels, values).map { Attribute($0, .string($1)) },
      countsAttemptsOnly: !key.labels.isEmpty,
      called: CalledMethod(key.method, target: key.target, isServer: isServer, isWatched: keeping.isOn),
      key == rest ? nil : bounds
    )
    state.meters[key] = meter
    state.targets.insert(key.target)
    return meter
  }

  static let other = "other"

  // MARK: Reading

  /// The meters with their labels.
  var all: [Key: CallMeter] { state.withLock { $0.meters } }

  func collect() -> [MetricFamily] {
    let meters = state.withLock { Array($0.meters.values) }
    var families = CallFamilies(isServer: isServer)
    for meter in meters.sorted(by: \.attemptAttributes) { families.add(meter) }
    return families.all
  }
}
