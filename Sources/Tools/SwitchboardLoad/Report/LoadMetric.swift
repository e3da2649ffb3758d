/// A figure of a run that a condition can refer to.
package enum LoadMetric: Sendable, Equatable {
  /// A percentile of the latency.
  case percentile(Double)
  case mean
  case minimum
  case maximum
  /// Calls that ended per second.
  case rate
  /// The share of the calls that failed, in percent.
  case errorPercent
  /// How many calls failed.
  case errors
  case calls

  /// The value in the metric's unit: nanoseconds, calls per second, percent, or a plain number.
  package func value(in tally: LoadTally) -> Double {
    switch self {
    case .percentile(let percent): tally.latency.quantile(percent / 100)
    case .mean: tally.latency.mean
    case .minimum: Double(tally.latency.minimum)
    case .maximum: Double(tally.latency.maximum)
    case .rate: tally.rate
    case .errorPercent: tally.errorShare * 100
    case .errors: Double(tally.errors)
    case .calls: Double(tally.calls)
    }
  }

  package func text(_ value: Double) -> String {
    switch self {
    case .percentile, .mean, .minimum, .maximum: Figure.time(value)
    case .rate: Figure.rate(value)
    case .errorPercent: Figure.decimal(value, places: 3) + "%"
    case .errors, .calls: Figure.grouped(value)
    }
  }

  package var name: String {
    switch self {
    case .percentile(let percent): "p\(Figure.short(percent))"
    case .mean: "mean"
    case .minimum: "min"
    case .maximum: "max"
    case .rate: "rate"
    case .errorPercent, .errors: "errors"
    case .calls: "calls"
    }
  }
}
