// state: options, one beside the other

/// The settings of a channel, for all its calls.
///
/// ```swift
/// var options = ChannelOptions()
/// options.keepaliveInterval = .seconds(30)
/// let channel = try Channel(target: "greeter.example:443", options: options)
/// ```
///
/// `CallOptions` has every option that can be compared, under the same name, for the channels of a pool.
public struct ChannelOptions: Sendable {
  /// The wait after the first failure to connect; it grows by a factor of 1.6 with each further failure.
  public var connectInitialBackoff = Duration.seconds(1)
  /// The longest wait after a failure to connect.
  public var connectMaxBackoff = Duration.seconds(120)
  /// The least time that an attempt to connect is given before it times out.
  public var connectMinTimeout = Duration.seconds(20)
  /// The largest response accepted, after decompression.
  public var responseSizeLimit = 4 * 1024 * 1024
  /// The largest block of response headers accepted, as announced to servers; at least 512.
  public var maxMetadataSize = 16 * 1024
  /// How many bytes a server may send on one call before it must wait: the flow-control window of a stream.
  public var streamLookahead = 1024 * 1024
  /// How many bytes a server may send on all calls of a connection together before it must wait.
  public var connectionWindow = 4 * 1024 * 1024
  /// The size up to which both windows grow with the bandwidth and the delay of the link, while data is read as it
  /// arrives. With a value up to `streamLookahead`, both stay fixed. More than HTTP/2's largest size means that size.
  public var maxWindow = 8 * 1024 * 1024
  /// How many unread bytes the streams of a connection may hold together before the whole connection waits.
  public var connectionBufferSize = 64 * 1024 * 1024
  /// How many unread bytes of messages a stream holds in each direction before the sender waits. Each message counts 96
  /// bytes more than its length.
  public var streamBufferSize = 256 * 1024
  /// The maximum size of the HPACK table for request headers. `nil` means as large as the server allows, up to 4 KiB.
  public var hpackTableSizeEncoder: Int?
  /// The maximum size of the HPACK table for response headers, as announced to servers. `nil` means 4 KiB.
  public var hpackTableSizeDecoder: Int?
  /// The maximum number of concurrent calls on one connection. `nil` means the server's limit, which always applies.
  public var maxConcurrentStreams: Int?
  /// How many connections to open to one server when there are more calls than it allows on one connection.
  public var maxConnections = 4
  /// How many calls may wait for a connection; further ones fail with `resourceExhausted`.
  public var maxWaitingCalls = 100_000
  /// How many bytes of a call's requests are kept until the server answers, to repeat the call if the server refuses it
  /// unprocessed, or by the service config's policies. A call that has sent more is not repeated.
  public var retryBufferSize = 256 * 1024
  /// Whether the service config's policies may repeat calls. Requests that reached no server are always sent again.
  public var enableRetry = true
  /// How long the server may be silent before a ping; less than ten seconds means ten. `nil` means no pings. The
  /// interval doubles each time the server ends a connection because of pings, up to two hours.
  public var keepaliveInterval: Duration?
  /// How long the server may take to answer the ping.
  public var keepaliveTimeout = Duration.seconds(20)
  /// Whether to ping while no call is in flight. Servers may treat that as abuse.
  public var keepaliveWithoutCalls = false
  /// How many frames that serve no call a server may send at once: settings, pings, window updates, informational
  /// headers, empty data. The allowance regains a quarter each second, and four frames for each frame sent to the
  /// server for a call. The connection to a server that exceeds it is closed. At least 16.
  public var controlFrameAllowance = 1000
  /// The protocol of calls.
  public var wireProtocol = CallProtocol.grpc
  /// The version of HTTP.
  public var httpVersion = HTTPVersion.negotiated
  /// Whether unary Connect calls of methods without side effects use HTTP GET, so that responses can be cached.
  public var connectGet = false
  /// How many HTTP/1.1 connections a channel opens to a server. Each carries one call at a time; further calls wait.
  public var maxHTTP1Connections = 64
  /// How connections are secured.
  public var security = ChannelSecurity.automatic
  /// Whether a proxy is used, and which.
  public var proxy = ProxyOption.environment
  /// Whether the event loop and callers poll for up to 60 µs before they block. This saves each call the time to wake a
  /// thread, but keeps cores busy while calls are in flight. Without calls, the cores are idle.
  public var lowLatency = false
  /// How long a callback of a call, or an interceptor, may block the channel's event loop before the log names the method.
  /// `nil`: nobody looks after the loop.
  public var blockedLoopLimit: Duration? = .milliseconds(50)
  /// Text that precedes Switchboard's own name in `user-agent`, unless it is empty.
  public var userAgentPrefix = ""
  /// The `:authority` to send instead of the target's.
  public var authority: String?

  /// Per-method configuration, for calls without a service config.
  public var serviceConfig: ServiceConfig?
  /// Whether calls wait for a connection, unless their own options or the service config of their method say otherwise.
  public var waitForReady = false
  /// Factories of interceptors for every call, which follow the client's.
  public var interceptorFactories: [any ClientInterceptorFactory] = []
  /// How long a channel without calls keeps its connections and its name resolved. `nil` means without limit.
  public var idleTimeout: Duration? = .seconds(1800)
  /// Shared factories, whose interceptors follow those of the channel's own. The channel freezes the registry.
  public var interceptorRegistry: InterceptorRegistry?

  /// The logger, if it is not the default one of the module that connects.
  package var chosenLogger: Logger?
  /// Observes calls and connections, for metrics and tracing.
  public var observer: (any CallObserver)?

  /// Called on the event loop with each step of connecting.
  package var onConnectionPhase: (@Sendable (ConnectionPhase) -> Void)?

  /// Where `security` was chosen.
  package var securityPlace = SecurityPlace.options

  /// Options of modules above this one.
  package var extensions = OptionExtensions()

  /// The defaults.
  public init() {}

  /// The shortest interval that gRPC's keepalive specification allows.
  package static let shortestKeepaliveInterval = Duration.seconds(10)

  /// The longest interval between pings to servers that object to them: the default limit of servers.
  package static let longestKeepaliveInterval = Duration.seconds(7200)
}

extension ChannelOptions: ChannelOptionSet {}
