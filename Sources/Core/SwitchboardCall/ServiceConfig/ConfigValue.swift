/// A JSON value in a service config.
public enum ConfigValue: Hashable, Sendable {
  /// `null`, which has the same meaning as a missing member.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// Any number: JSON has only one kind.
  case number(Double)
  /// A string.
  case string(String)
  /// Values in order.
  case array([ConfigValue])
  /// Values by name.
  case object([String: ConfigValue])
}

/// The name and the configuration of a load balancing policy in a service config. The policy parses the configuration.
///
/// ```swift
/// let config = try ServiceConfig(loadBalancing: [LoadBalancingConfig("round_robin")])
/// ```
public struct LoadBalancingConfig: Hashable, Sendable {
  /// The name, such as `round_robin`.
  public let policy: String
  /// The members of the policy's configuration.
  public let members: [String: ConfigValue]
  /// Where it is in the JSON from which it was read. Comparisons ignore it.
  package var path: String?

  /// Creates the configuration of the policy with this name.
  public init(_ policy: String, _ members: [String: ConfigValue] = [:]) {
    self.policy = policy
    self.members = members
  }

  public static func == (left: LoadBalancingConfig, right: LoadBalancingConfig) -> Bool {
    left.policy == right.policy && left.members == right.members
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(policy)
    hasher.combine(members)
  }
}
