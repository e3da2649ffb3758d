/// The options of a `ChannelPool`'s channels in addition to `ChannelOptions`: certificates, and what keeps channels apart.
///
/// Set them by name in `CallOptions`.
///
/// ```swift
/// let options = CallOptions.with {
///   $0.channelPoolDomain = "shop"
/// }
/// let client = Hello_GreeterClient(host: "localhost:50051", options: options)
/// ```
public struct PoolOptions: Hashable, Sendable {
  /// The authorities trusted to issue the server's certificate, in PEM. `nil` means the system's roots.
  public var pemRootCert: String?
  /// The key of `pemCertChain`, in PEM; set both or neither.
  public var pemPrivateKey: String?
  /// The client's certificate and its intermediate certificates, in PEM, for servers that ask for one.
  public var pemCertChain: String?
  /// The name that the server's certificate must have, and the `:authority` of calls, if not the host.
  public var hostNameOverride: String?
  /// Metadata for every log entry of the call and of its connections.
  public var logContext: [String: String] = [:]
  /// Channels of different domains are never shared: a library can name one to keep its channels separate.
  public var channelPoolDomain: String?
  /// Channels with different IDs are never shared: use several to open several connections to one host.
  public var channelID = 0
  /// Channel arguments by gRPC's names, such as `grpc.max_receive_message_length`. An option with the same meaning
  /// takes precedence. An unknown name has no effect, but keeps channels apart.
  public var additionalChannelArgs: [String: ChannelArgument] = [:]

  package init() {}
}

extension PoolOptions: ChannelOptionSet {}

/// The value of a channel argument.
public enum ChannelArgument: Sendable, Hashable {
  /// A number; a Boolean is 0 or 1.
  case integer(Int)
  /// A string.
  case string(String)
}

extension ChannelArgument: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
  ExpressibleByBooleanLiteral
{
  public init(integerLiteral value: Int) { self = .integer(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}
