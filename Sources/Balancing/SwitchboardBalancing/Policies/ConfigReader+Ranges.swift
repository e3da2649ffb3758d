import SwitchboardCall

extension ConfigReader {
  /// A whole number within a range. Refuses any other value.
  func count(_ name: String, in range: ClosedRange<Int>) throws(GRPCStatus) -> Int? {
    guard let count = try count(name) else { return nil }
    guard range.contains(count) else {
      try refuse(name, "is not from \(range.lowerBound) to \(range.upperBound)")
      return nil
    }
    return count
  }

  /// The same, with a value for one that is missing.
  func count(
    _ name: String,
    in range: ClosedRange<Int>,
    default standard: Int
  ) throws(GRPCStatus) -> Int { try count(name, in: range) ?? standard }

  /// The children of a policy, sorted by their names. Refuses too many.
  func children(_ name: String) throws(GRPCStatus) -> [(name: String, ConfigReader)]? {
    let children = try objectsByName(name)
    guard children?.count ?? 0 <= ConfigLimit.children else {
      try refuse(name, "has more than \(ConfigLimit.children) members")
      return nil
    }
    return children
  }

  /// A share in percent.
  func percentage(_ name: String, default standard: Int) throws(GRPCStatus) -> Int {
    try count(name, in: 0...100, default: standard)
  }

  /// The period of a timer, clamped to `range`.
  func period(
    _ name: String,
    in range: ClosedRange<Duration>,
    default standard: Duration
  ) throws(GRPCStatus) -> Duration {
    min(max(try duration(name) ?? standard, range.lowerBound), range.upperBound)
  }
}

/// The limits of values in a configuration.
enum ConfigLimit {
  /// The largest `uint32`, the protobuf type of most numbers in configurations.
  static let count = Int(UInt32.max)
  /// The longest period of a timer.
  static let period = Duration.seconds(86_400 * 365)
  /// The most children of one policy, because each change of a child examines all of them.
  static let children = 1000
}
