/// What a channel is set to, for all its calls.
///
/// ```swift
/// var options = ChannelOptions()
/// options.keepaliveInterval = .seconds(30)
/// let channel = try Channel(target: "greeter.example:443", options: options)
/// ```
///
/// `CallOptions` has every option that can be compared, under the same name, for the channels of a pool.
public struct ChannelOptions: Sendable {
  /// How long to wait after the first failure to connect; grows by 1.6 with each further one.
  public var connectInitialBackoff = Duration.seconds(1)
  /// What the wait after a failure to connect grows to.
  public var connectMaxBackoff = Duration.seconds(120)
  /// How long one attempt to connect may take at the least.
  public var connectMinTimeout = Duration.seconds(20)
  /// The largest response message, after decompression.
  public var responseSizeLimit = 4 * 1024 * 1024
  /// The largest block of response headers that servers are asked to send.
  public var maxMetadataSize = 16 * 1024
  /// How many bytes a server may send on one call before it must wait for us.
  public var streamLookahead = 1024 * 1024
  /// The same for all calls of a connection together.
  public var connectionWindow = 4 * 1024 * 1024
  /// What these windows may grow to, where much is in flight on the way here and is read as it comes: they follow
  /// the link's bandwidth and delay. No more than `streamLookahead` keeps both fixed.
  public var maxWindow = 8 * 1024 * 1024
  /// How many unread bytes of all streams of a connection are held before the whole connection is made to wait.
  public var connectionBufferSize = 64 * 1024 * 1024
  /// How much of one stream's messages is held unread, each way, before their sender is made to wait: their bytes, and 96
  /// more for each.
  public var streamBufferSize = 256 * 1024
  /// The most memory that the compression of request headers uses for each connection. `nil`: as much as the server
  /// allows, up to 4 KiB.
  public var hpackTableSizeEncoder: Int?
  /// The same for the decompression of response headers, which the server is told. `nil`: 4 KiB.
  public var hpackTableSizeDecoder: Int?
  /// The most calls at a time on one connection, where the server allows as many. `nil`: as the server says.
  public var maxConcurrentStreams: Int?
  /// How many connections may be opened when the calls are more than one connection's peer allows.
  public var maxConnections = 4
  /// How many calls may wait for a connection with room; further ones fail with `resourceExhausted`.
  public var maxWaitingCalls = 100_000
  /// How many bytes of a call's requests are kept until the server answers, so that the call can be made again: when
  /// the server refuses it untouched, and by the policies of the service config. A call with more is not made again
  /// once they have left.
  public var retryBufferSize = 256 * 1024
  /// Whether calls may be made again by the policies of the service config. A request that never reached a server is
  /// sent again in any case.
  public var enableRetry = true
  /// How long the server may be silent before it is asked for a sign of life; ten seconds at least. `nil`: it is
  /// never asked. It is asked half as often each time that it has ended a connection over it, down to every two hours.
  public var keepaliveInterval: Duration?
  /// How long the server may take to give that sign.
  public var keepaliveTimeout = Duration.seconds(20)
  /// Whether to ask while no call is under way. Servers may take that for abuse.
  public var keepaliveWithoutCalls = false
  /// How many frames that do nothing for a call a server may send at once: settings, pings, window updates,
  /// informational headers, empty data. It regains a quarter of them each second, and four with each frame
  /// that is sent to it for a call. A connection whose server sends more is closed.
  public var controlFrameAllowance = 1000
  /// How connections are secured. `nil`: they are not.
  public var tls: ClientTLS?
  /// Whether the loop, and who waits for an answer, keep looking for it for up to 60 µs before they block. That takes the
  /// time of being woken out of a call's latency, for cores that are busy while calls go on; while none do they
  /// are idle.
  public var lowLatency = false
  /// Precedes Switchboard's own name in `user-agent`, unless it is empty.
  public var userAgentPrefix = ""
  /// The `:authority` to send in place of the target's.
  public var authority: String?

  /// What is configured per method, for calls that bring no service config of their own.
  public var serviceConfig: ServiceConfig?
  /// Makes interceptors for every call, behind those of the client that makes it.
  public var interceptorFactories: [any InterceptorFactory] = []
  /// Factories that are shared with others, behind the channel's own. Freezes the registry. `nil`: none.
  public var interceptorRegistry: InterceptorRegistry?

  /// Where to tell what happens to connections.
  public var logger = Logger.quiet
  /// Who is told of calls and connections, for metrics and tracing.
  public var observer: (any CallObserver)?

  /// The defaults.
  public init() {}

  /// The interval that gRPC's specification of keepalive allows at least.
  package static let shortestKeepaliveInterval = Duration.seconds(10)

  /// The longest interval between pings to servers that object to them: what servers use by default.
  package static let longestKeepaliveInterval = Duration.seconds(7200)

  /// Throws `INVALID_ARGUMENT` for options that are out of range or contradict each other.
  package func validate() throws(GRPCStatus) {
    guard connectInitialBackoff <= connectMaxBackoff else {
      throw .invalidOption(
        "the initial backoff, \(connectInitialBackoff), is above the maximum, \(connectMaxBackoff)"
      )
    }
    for rule in Self.rules { try rule.check(self) }
  }
}

extension ChannelOptions: ChannelOptionSet {
  package static let rules: [OptionRule<ChannelOptions>] = [
    OptionRule(\.connectInitialBackoff, argument: "grpc.initial_reconnect_backoff_ms"),
    OptionRule(\.connectMaxBackoff, argument: "grpc.max_reconnect_backoff_ms"),
    OptionRule(\.connectMinTimeout, argument: "grpc.min_reconnect_backoff_ms"),
    OptionRule(\.responseSizeLimit, argument: "grpc.max_receive_message_length", unlimited: Int(UInt32.max)),
    OptionRule(\.responseSizeLimit, argument: "grpc.max_message_length", unlimited: Int(UInt32.max)),
    OptionRule(\.maxMetadataSize, "maxMetadataSize", argument: "grpc.max_metadata_size", in: sizes),
    OptionRule(\.streamLookahead, "streamLookahead", argument: "grpc.http2.lookahead_bytes", in: sizes),
    OptionRule(\.connectionWindow, "connectionWindow", in: sizes),
    OptionRule(
      \.streamBufferSize,
      "streamBufferSize",
      in: 1...Int.max,
      because: "a stream needs room for a message"
    ),
    OptionRule(
      \.hpackTableSizeEncoder,
      "hpackTableSizeEncoder",
      argument: "grpc.http2.hpack_table_size.encoder",
      in: sizes
    ),
    OptionRule(
      \.hpackTableSizeDecoder,
      "hpackTableSizeDecoder",
      argument: "grpc.http2.hpack_table_size.decoder",
      in: sizes
    ),
    OptionRule(
      \.maxConcurrentStreams,
      "maxConcurrentStreams",
      argument: "grpc.max_concurrent_streams",
      in: 1...Int.max,
      because: "a connection needs at least one stream"
    ),
    OptionRule(
      \.maxConnections,
      "maxConnections",
      in: 1...Int.max,
      because: "a channel needs at least one connection"
    ),
    OptionRule(\.retryBufferSize, argument: "grpc.per_rpc_retry_buffer_size"),
    OptionRule(\.enableRetry, argument: "grpc.enable_retries"),
    OptionRule(\.keepaliveInterval, argument: "grpc.keepalive_time_ms"),
    OptionRule(\.keepaliveTimeout, argument: "grpc.keepalive_timeout_ms"),
    OptionRule(\.keepaliveWithoutCalls, argument: "grpc.keepalive_permit_without_calls"),
    OptionRule(\.userAgentPrefix, argument: "grpc.primary_user_agent"),
    OptionRule(\.authority, argument: "grpc.default_authority"),
  ]

  /// The sizes that HTTP/2 can express.
  private static let sizes = 0...Int(Int32.max)
}
