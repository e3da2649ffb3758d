import SwitchboardCall

extension ConfigReader {
  /// A whole number within a range. Throws `INVALID_ARGUMENT` for others.
  func count(
    _ name: String,
    in range: ClosedRange<Int>,
    default standard: Int
  ) throws(GRPCStatus) -> Int {
    guard let count = try count(name) else { return standard }
    guard range.contains(count) else {
      throw failure(name, "is not from \(range.lowerBound) to \(range.upperBound)")
    }
    return count
  }

  /// The children of a policy, sorted by their names. Throws `INVALID_ARGUMENT` if there are too many.
  func children(_ name: String) throws(GRPCStatus) -> [(name: String, ConfigReader)]? {
    let children = try objectsByName(name)
    guard children?.count ?? 0 <= ConfigLimit.children else {
      throw failure(name, "has more than \(ConfigLimit.children) members")
    }
    return children
  }

  /// A share in percent.
  func percentage(_ name: String, default standard: Int) throws(GRPCStatus) -> Int {
    try count(name, in: 0...100, default: standard)
  }

  /// The time between two runs of a timer. What is outside of `range` is moved to its nearest end.
  func period(
    _ name: String,
    in range: ClosedRange<Duration>,
    default standard: Duration
  ) throws(GRPCStatus) -> Duration {
    min(max(try duration(name) ?? standard, range.lowerBound), range.upperBound)
  }
}

/// The limits of what a configuration may ask for.
enum ConfigLimit {
  /// The largest number of protobuf's type for most numbers.
  static let count = Int(UInt32.max)
  /// The longest time that a timer is set to.
  static let period = Duration.seconds(86_400 * 365)
  /// The most children of one policy: when one changes, all of them are looked at.
  static let children = 1000
}
