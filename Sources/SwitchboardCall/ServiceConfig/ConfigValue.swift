/// A JSON value in a service config.
public enum ConfigValue: Hashable, Sendable {
  /// `null`, which means the same as a missing member.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// Any number: JSON has only one kind.
  case number(Double)
  /// Text.
  case string(String)
  /// Values in order.
  case array([ConfigValue])
  /// Values by name.
  case object([String: ConfigValue])
}

/// A load balancing policy that a service config names, with its own configuration, which the policy parses later.
///
/// ```swift
/// let config = try ServiceConfig(loadBalancing: [LoadBalancingConfig("round_robin")])
/// ```
public struct LoadBalancingConfig: Hashable, Sendable {
  /// The name, such as `round_robin`.
  public let policy: String
  /// The members of the policy's configuration.
  public let members: [String: ConfigValue]

  /// A policy by its name.
  public init(_ policy: String, _ members: [String: ConfigValue] = [:]) {
    self.policy = policy
    self.members = members
  }
}
