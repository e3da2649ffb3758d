/// The metrics of `outlier_detection` (gRFC A91): what becomes of the outliers that a sweep finds.
struct OutlierMeter {
  /// How an outlier is found, by the names of gRFC A91.
  enum Method: String, CaseIterable {
    case successRate = "success_rate"
    case failurePercentage = "failure_percentage"
  }

  /// Why an outlier is not ejected, by the names of gRFC A91.
  enum Reason: String, CaseIterable {
    /// Chance, by the probability of the rule.
    case chance = "enforcement_percentage"
    /// As many endpoints are ejected as may be.
    case overflow = "max_ejection_overflow"
  }

  private struct Series {
    var ejected: (any MetricSeries)?
    var kept: [Reason: any MetricSeries] = [:]
  }

  private let scope: MetricScope
  private var service: String?
  private var series: [Method: Series] = [:]

  /// `nil` if all of the metrics are off.
  init?(_ scope: MetricScope?) {
    guard let scope else { return nil }
    self.scope = scope
    bind(scope)
    guard series.values.contains(where: { $0.ejected != nil || !$0.kept.isEmpty }) else { return nil }
  }

  private mutating func bind(_ scope: MetricScope) {
    for method in Method.allCases {
      let labelled = scope.labelled(MetricLabel.detectionMethod, method.rawValue)
      var own = Series(ejected: labelled.series(of: .ejected))
      for reason in Reason.allCases {
        own.kept[reason] = labelled.labelled(MetricLabel.unenforcedReason, reason.rawValue).series(of: .kept)
      }
      series[method] = own
    }
  }

  /// The endpoints have changed. The first one that belongs to a service stands for all of them (gRFC A89).
  mutating func update(_ endpoints: [Endpoint]) {
    let service = endpoints.lazy.compactMap { $0.attributes[EndpointBackendService.self] }.first
    guard let service, service != self.service else { return }
    self.service = service
    bind(scope.labelled(MetricLabel.backendService, service))
  }

  /// An outlier was found, and ejected unless there is a reason not to.
  func found(_ method: Method, keptFor reason: Reason?) {
    let own = series[method]
    (reason.map { own?.kept[$0] } ?? own?.ejected)?.record(1)
  }
}

extension Instrument {
  fileprivate static let ejected = outliers(
    "ejections_enforced",
    "outliers that get no calls for a while",
    []
  )
  fileprivate static let kept = outliers(
    "ejections_unenforced",
    "outliers that still get calls, because of max_ejection_percent or of the rule's enforcement_percentage",
    [MetricLabel.unenforcedReason]
  )

  private static func outliers(_ name: String, _ description: String, _ labels: [String]) -> Instrument {
    Instrument(
      "grpc.lb.outlier_detection.\(name)",
      .counter,
      unit: "{ejection}",
      description,
      labels: [MetricLabel.target, MetricLabel.detectionMethod] + labels,
      optionalLabels: [MetricLabel.backendService]
    )
  }
}
