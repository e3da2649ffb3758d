/// Finds the highest rate at which a server passes: doubles the rate until the server fails, and then narrows the
/// range.
package struct LimitSearch: Sendable, Equatable {
  /// The search ends when the bounds are this close.
  private let precision: Double
  private let largest: Double
  private let smallest: Double
  /// The highest rate that passed.
  package private(set) var passed: Double?
  /// The lowest rate that failed.
  package private(set) var failed: Double?
  /// The rate to try next; nil when the search is over.
  package private(set) var next: Double?

  package init(start: Double, smallest: Double = 1, largest: Double = 1_000_000, precision: Double = 0.05) {
    self.precision = max(precision, 0.001)
    self.smallest = smallest
    self.largest = largest
    next = min(max(start, smallest), largest)
  }

  /// Records the result for the rate `next`.
  package mutating func record(_ didPass: Bool) {
    guard let rate = next else { return }
    if didPass { passed = max(passed ?? 0, rate) } else { failed = min(failed ?? .infinity, rate) }
    switch (passed, failed) {
    case (let low?, let high?):
      // If the server passed at a rate and later failed at a lower one, the search ends with the rate that passed.
      next = high > low * (1 + precision) ? (low * high).squareRoot() : nil
    case (let low?, nil): next = low >= largest ? nil : min(low * 2, largest)
    case (nil, let high?): next = high <= smallest ? nil : max(high / 2, smallest)
    case (nil, nil): break
    }
  }
}
