extension Duration {
  /// Clamped to zero and to about 290 years.
  package var nanoseconds: UInt64 {
    // Compared before the components are read: those of some durations overflow, such as twice the longest.
    guard self < .seconds(Int64.max / 1_000_000_000) else { return UInt64(Int64.max) }
    guard self > .zero else { return 0 }
    let (seconds, attoseconds) = components
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}

extension UInt64 {
  package func addingSaturated(_ other: UInt64) -> UInt64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
