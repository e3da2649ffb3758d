/// A value of JSON, as service configs consist of them.
public enum ConfigValue: Hashable, Sendable {
  /// `null`, which a config treats like a member that is missing.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// Any number, as JSON knows only one kind.
  case number(Double)
  /// Text.
  case string(String)
  /// Values in order.
  case array([ConfigValue])
  /// Values by name.
  case object([String: ConfigValue])
}

/// A policy that a service config asks for, by name, with the policy's own configuration, which is not read yet.
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
