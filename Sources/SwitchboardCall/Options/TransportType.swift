/// How the connections of a channel that a pool makes are secured.
@frozen
public enum TransportType: Sendable, Hashable {
  /// By TLS: with the system's roots, unless `pemRootCert` names others.
  case secure
  /// Not at all.
  case insecure
}

/// The value of an argument that is known by its name.
public enum ChannelArgument: Sendable, Hashable {
  /// A number, or a truth value as 0 or 1.
  case integer(Int)
  /// Text.
  case string(String)
}

extension ChannelArgument: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
  ExpressibleByBooleanLiteral
{
  public init(integerLiteral value: Int) { self = .integer(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}
