/// The metrics of `weighted_round_robin` (gRFC A78): what each computation of the shares found.
struct WeightMeter {
  private let scope: MetricScope
  private var service: String?
  private var fallbacks: (any MetricSeries)?
  private var notYetUsable: (any MetricSeries)?
  private var stale: (any MetricSeries)?
  private var weights: (any MetricSeries)?
  /// What the current computation has found so far.
  private var found = Found()

  private struct Found {
    var notYetUsable = 0
    var stale = 0
    var weights: [Double] = []
  }

  /// `nil` if all of the metrics are off.
  init?(_ scope: MetricScope?) {
    guard let scope else { return nil }
    self.scope = scope
    bind(scope)
    guard fallbacks != nil || notYetUsable != nil || stale != nil || weights != nil else { return nil }
  }

  private mutating func bind(_ scope: MetricScope) {
    fallbacks = scope.series(of: .fallbacks)
    notYetUsable = scope.series(of: .notYetUsable)
    stale = scope.series(of: .stale)
    weights = scope.series(of: .weights)
  }

  /// The endpoints have changed. The first one that belongs to a service stands for all of them (gRFC A89).
  mutating func update(_ endpoints: [Endpoint]) {
    let service = endpoints.lazy.compactMap { $0.attributes[EndpointBackendService.self] }.first
    guard let service, service != self.service else { return }
    self.service = service
    bind(scope.labelled(MetricLabel.backendService, service))
  }

  /// Notes one endpoint that is ready.
  mutating func note(_ state: EndpointLoad.State) {
    switch state {
    case .usable: break
    case .notYetUsable: found.notYetUsable += 1
    case .stale: found.stale += 1
    }
    found.weights.append(state.weight)
  }

  /// All endpoints that are ready were noted. Without any there are no shares to compute.
  mutating func record() {
    guard !found.weights.isEmpty else { return }
    if found.weights.count(where: { $0 > 0 }) < 2 { fallbacks?.record(1) }
    if found.notYetUsable > 0 { notYetUsable?.record(Double(found.notYetUsable)) }
    if found.stale > 0 { stale?.record(Double(found.stale)) }
    weights?.record(found.weights)
    found = Found()
  }
}

extension Instrument {
  fileprivate static let fallbacks = wrr(
    "rr_fallback",
    .counter,
    "{update}",
    "updates of the weights after which all endpoints got the same share, because fewer than two had a usable weight"
  )
  fileprivate static let notYetUsable = wrr(
    "endpoint_weight_not_yet_usable",
    .counter,
    "{endpoint}",
    "endpoints that had reported no load yet, or only recently, at an update of the weights"
  )
  fileprivate static let stale = wrr(
    "endpoint_weight_stale",
    .counter,
    "{endpoint}",
    "endpoints whose last report of load was too old, at an update of the weights"
  )
  fileprivate static let weights = wrr(
    "endpoint_weights",
    .histogram(bounds: weightBounds),
    "{weight}",
    "the weights of all endpoints at each update; 0 without a usable one"
  )

  private static func wrr(_ name: String, _ kind: Kind, _ unit: String, _ description: String) -> Instrument {
    Instrument(
      "grpc.lb.wrr.\(name)",
      kind,
      unit: unit,
      description,
      optionalLabels: [MetricLabel.locality, MetricLabel.backendService]
    )
  }

  /// gRFC A78 names none. Weights are calls per second divided by a utilization, usually below 1.
  private static let weightBounds: [Double] = [
    0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000,
  ]
}
