/// What only the channels of a `ChannelPool` have, beside `ChannelOptions`: how they are secured, and what keeps them apart.
///
/// They are set by their names in `CallOptions`.
public struct PoolOptions: Hashable, Sendable {
  /// How connections are secured; by TLS unless this says otherwise.
  public var transportType = TransportType.secure
  /// The authorities that may vouch for the server, in PEM. `nil`: the system's roots.
  public var pemRootCert: String?
  /// The key of `pemCertChain`, in PEM; both or none.
  public var pemPrivateKey: String?
  /// What to show a server that asks for a certificate, in PEM: the certificate first, then those that vouch for it.
  public var pemCertChain: String?
  /// The name that the server's certificate must carry, and the `:authority` of calls, where it is not the host's.
  public var hostNameOverride: String?
  /// Added to every log entry of the call and of its connections.
  public var logContext: [String: String] = [:]
  /// Channels of different domains are never shared: name one for a library, so that it keeps to itself.
  public var channelPoolDomain: String?
  /// Channels of different numbers are never shared: for several connections to one host.
  public var channelID = 0
  /// Channel arguments by gRPC's names for them, such as `grpc.max_receive_message_length`. An option that says the same
  /// takes precedence. An unknown name tells channels apart and does nothing else.
  public var additionalChannelArgs: [String: ChannelArgument] = [:]

  /// The defaults.
  package init() {}
}

extension PoolOptions: ChannelOptionSet {
  package static let rules = [
    OptionRule(\PoolOptions.hostNameOverride, argument: "grpc.ssl_target_name_override")
  ]
}

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
