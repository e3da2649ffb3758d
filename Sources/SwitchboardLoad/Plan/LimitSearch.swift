/// Finds the highest rate at which a server does what it should: doubles the rate until it does not, and then halves the
/// range in between.
package struct LimitSearch: Sendable, Equatable {
  /// When the bounds are this close, it is done.
  private let precision: Double
  private let largest: Double
  private let smallest: Double
  /// The highest rate that passed.
  package private(set) var passed: Double?
  /// The lowest that did not.
  package private(set) var failed: Double?
  /// The rate to try; nil when it is done.
  package private(set) var next: Double?

  package init(start: Double, smallest: Double = 1, largest: Double = 1_000_000, precision: Double = 0.05) {
    self.precision = max(precision, 0.001)
    self.smallest = smallest
    self.largest = largest
    next = min(max(start, smallest), largest)
  }

  /// Takes the result of the rate that was to be tried.
  package mutating func record(_ didPass: Bool) {
    guard let rate = next else { return }
    if didPass { passed = max(passed ?? 0, rate) } else { failed = min(failed ?? .infinity, rate) }
    switch (passed, failed) {
    case (let low?, let high?):
      // A server that passed at a rate once and failed below it later has its limit there.
      next = high > low * (1 + precision) ? (low * high).squareRoot() : nil
    case (let low?, nil): next = low >= largest ? nil : min(low * 2, largest)
    case (nil, let high?): next = high <= smallest ? nil : max(high / 2, smallest)
    case (nil, nil): break
    }
  }
}
