/// A histogram for drawing: a few bins, each wider than the previous one by the same factor.
package struct LatencyBins: Sendable, Equatable {
  package struct Bin: Sendable, Equatable {
    /// The lower bound in nanoseconds.
    package let low: Double
    package let high: Double
    package let calls: UInt64
  }

  package let bins: [Bin]

  package init(_ histogram: LatencyHistogram, count: Int) {
    guard histogram.count > 0, count > 0 else {
      bins = []
      return
    }
    let low = max(1, Double(histogram.minimum))
    let high = max(low * 1.01, Double(histogram.maximum))
    let factor = Root.of(high / low, degree: count)
    var edge = low
    bins = (0..<count).map { index in
      let isLast = index == count - 1
      defer { edge *= factor }
      // The first and last bins also count all values below and above.
      let inside = histogram.count(from: index == 0 ? 0 : edge, to: isLast ? .infinity : edge * factor)
      return Bin(low: edge, high: isLast ? high : edge * factor, calls: inside)
    }
  }

  package var largest: UInt64 { bins.map(\.calls).max() ?? 0 }
}

/// Roots and logarithms, which the standard library lacks.
enum Root {
  /// The root of a value that is at least one, found by bisection.
  static func of(_ value: Double, degree: Int) -> Double {
    var (low, high) = (1.0, max(1, value))
    for _ in 0..<200 where high - low > low * 1e-15 {
      let middle = low + (high - low) / 2
      var power = 1.0
      for _ in 0..<degree where power <= value { power *= middle }
      if power > value { high = middle } else { low = middle }
    }
    return low
  }

  /// The natural logarithm of a positive number.
  static func logarithm(_ value: Double) -> Double {
    guard value > 0, value.isFinite else { return value == 0 ? -.infinity : value }
    // value = significand * 2^exponent, and the series of artanh converges fast near one.
    var (exponent, rest) = (Double(value.exponent), value.significand)
    if rest > 1.414_213_562_373_095_1 {
      rest /= 2
      exponent += 1
    }
    let ratio = (rest - 1) / (rest + 1)
    var (power, sum) = (ratio, 0.0)
    for odd in stride(from: 1.0, through: 41, by: 2) {
      sum += power / odd
      power *= ratio * ratio
    }
    return 2 * sum + exponent * 0.693_147_180_559_945_3
  }

  /// The inverse of the logarithm.
  static func exponential(_ value: Double) -> Double {
    guard abs(value) < 700 else { return value < 0 ? 0 : .infinity }
    // Scaled down so that the series converges fast, then squared as often.
    let part = value / 1024
    var (term, sum) = (1.0, 1.0)
    for index in 1...10 {
      term *= part / Double(index)
      sum += term
    }
    for _ in 0..<10 { sum *= sum }
    return sum
  }
}
