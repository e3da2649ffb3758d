/// A bound on a figure of a run, such as `p99>20ms`, `errors>0.1%` or `rate<1000`.
package struct LoadCondition: Sendable, Equatable {
  package enum Comparison: String, Sendable {
    case above = ">"
    case below = "<"
    case atLeast = ">="
    case atMost = "<="
  }

  package let metric: LoadMetric
  package let comparison: Comparison
  /// In the metric's own unit.
  package let bound: Double

  /// Whether it holds more easily the less the server has to do.
  package var isLimit: Bool {
    switch metric {
    case .rate, .calls: true
    default: comparison == .below || comparison == .atMost
    }
  }

  /// The condition, such as `p99>20 ms`.
  package var description: String { "\(metric.name)\(comparison.rawValue)\(metric.text(bound))" }

  /// Whether it can hold in a run, which has no more than so many calls; nil if their number is not limited.
  package func canHold(ofCalls limit: UInt64?) -> Bool {
    let most: Double =
      switch metric {
      case .errorPercent: 100
      case .errors, .calls: limit.map { Double($0) } ?? .infinity
      default: .infinity
      }
    return switch comparison {
    case .above: most > bound
    case .atLeast: most >= bound
    case .below: bound > 0
    case .atMost: bound >= 0
    }
  }

  package func holds(in tally: LoadTally) -> Bool {
    let value = metric.value(in: tally)
    return switch comparison {
    case .above: value > bound
    case .below: value < bound
    case .atLeast: value >= bound
    case .atMost: value <= bound
    }
  }

  /// The condition and the actual figure, such as `p99>20 ms: 31.4 ms`.
  package func description(in tally: LoadTally) -> String {
    "\(description): \(metric.text(metric.value(in: tally)))"
  }

  // MARK: Reading

  /// Parses conditions that are separated by commas.
  package static func list(_ text: String) throws(PayloadError) -> [LoadCondition] {
    var conditions: [LoadCondition] = []
    guard !text.utf8.contains(UInt8(ascii: ";")) else {
      throw PayloadError(
        "'\(text)' has a semicolon: conditions are separated by commas, such as p99>20ms,errors>0.1%"
      )
    }
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      conditions.append(try LoadCondition(part))
    }
    return conditions
  }

  init(_ text: Substring) throws(PayloadError) {
    let text = text.filter { $0 != " " }
    guard let sign = text.firstIndex(where: { $0 == "<" || $0 == ">" }) else {
      throw PayloadError(
        "'\(text)' is not a condition: expected a figure, a comparison and a bound, such as p99>20ms"
      )
    }
    var bound = text[sign...].dropFirst()
    let isInclusive = bound.first == "="
    if isInclusive { bound = bound.dropFirst() }
    guard !text[..<sign].hasSuffix("=") else {
      throw PayloadError("'\(text)' is not a condition: the comparisons are >, <, >= and <=")
    }
    comparison =
      text[sign] == "<" ? (isInclusive ? .atMost : .below) : (isInclusive ? .atLeast : .above)
    (metric, self.bound) = try Self.figure(String(text[..<sign]), bound)
  }

  private static func figure(
    _ name: String,
    _ bound: Substring
  ) throws(PayloadError) -> (LoadMetric, Double) {
    switch name {
    case "mean": return (.mean, try time(bound))
    case "min": return (.minimum, try time(bound))
    case "max": return (.maximum, try time(bound))
    case "rate": return (.rate, try number(bound.hasSuffix("/s") ? bound.dropLast(2) : bound))
    case "calls": return (.calls, try count(bound))
    case "errors": return try errors(bound)
    default:
      guard name.hasPrefix("p"), let percent = Figure.number(name.dropFirst()), percent > 0, percent <= 100
      else {
        throw PayloadError(
          "'\(name)' is not a figure: use p50 (or any other percentile), mean, min, max, rate, errors or calls"
        )
      }
      return (.percentile(percent), try time(bound))
    }
  }

  private static func number(_ text: Substring) throws(PayloadError) -> Double {
    guard let number = Figure.number(text) else { throw PayloadError("'\(text)' is not a number") }
    return number
  }

  private static func count(_ text: Substring) throws(PayloadError) -> Double {
    let number = try number(text)
    guard number == number.rounded() else { throw PayloadError("'\(text)' is no number of calls") }
    return number
  }

  /// How many calls failed, or with `%` which share of them. A part of a call is a share that was meant: as a number, it would hold at
  /// the first failure.
  private static func errors(_ text: Substring) throws(PayloadError) -> (LoadMetric, Double) {
    if text.hasSuffix("%") { return (.errorPercent, try number(text.dropLast())) }
    let number = try number(text)
    guard number == number.rounded() else {
      let part = number < 1 ? ", or \(Figure.short(number * 100))%, which is \(text) of them" : ""
      throw PayloadError("'\(text)' is no number of calls: for a share of them write \(text)%\(part)")
    }
    return (.errors, number)
  }

  private static func time(_ text: Substring) throws(PayloadError) -> Double {
    guard let nanoseconds = Figure.nanoseconds(text) else {
      throw PayloadError("'\(text)' is not a time: expected a number and us, ms, s or m, such as 20ms")
    }
    return nanoseconds
  }
}
