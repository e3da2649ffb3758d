import SwitchboardCall

/// What a channel is set to, for all its calls.
public struct ChannelOptions: Sendable {
  /// How long to wait after the first failure to connect; grows by 1.6 with each further one.
  public var initialBackoff = Duration.seconds(1)
  /// What the wait after a failure to connect grows to.
  public var maximumBackoff = Duration.seconds(120)
  /// How long one attempt to connect may take at the least.
  public var minimumConnectTimeout = Duration.seconds(20)
  /// The largest response message, after decompression.
  public var maxResponseSize = 4 * 1024 * 1024
  /// The largest block of response headers that servers are asked to send.
  public var maxHeaderListSize = 16 * 1024
  /// How many bytes a server may send on one call before it must wait for us.
  public var streamWindow = 1024 * 1024
  /// The same for all calls of a connection together.
  public var connectionWindow = 4 * 1024 * 1024
  /// What these windows may grow to, where much is in flight on the way here and is read as it comes: they follow
  /// the link's bandwidth and delay. No more than `streamWindow` keeps both fixed.
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
  /// Goes before our own name in `user-agent`.
  public var userAgentPrefix: String?
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

  /// By gRPC's specification of keepalive.
  static let shortestKeepaliveInterval = Duration.seconds(10)

  /// What the interval grows to where servers find it too short: what servers ask at by themselves.
  static let longestKeepaliveInterval = Duration.seconds(7200)

  func validate() throws(GRPCStatus) {
    guard initialBackoff <= maximumBackoff else {
      throw GRPCStatus(
        code: .invalidArgument,
        message: "the initial backoff, \(initialBackoff), is above the maximum, \(maximumBackoff)"
      )
    }
    guard maxConnections > 0 else {
      throw GRPCStatus(code: .invalidArgument, message: "a channel needs at least one connection")
    }
    for (name, value) in [
      ("streamWindow", streamWindow), ("connectionWindow", connectionWindow),
      ("maxHeaderListSize", maxHeaderListSize), ("hpackTableSizeEncoder", hpackTableSizeEncoder ?? 0),
      ("hpackTableSizeDecoder", hpackTableSizeDecoder ?? 0),
    ] where !(0...Int(Int32.max)).contains(value) {
      throw GRPCStatus(
        code: .invalidArgument,
        message: "\(name) is \(value), not a size that HTTP/2 can express"
      )
    }
    guard streamBufferSize > 0 else {
      throw GRPCStatus(
        code: .invalidArgument,
        message: "streamBufferSize is \(streamBufferSize): a stream needs room for a message"
      )
    }
    guard maxConcurrentStreams ?? 1 > 0 else {
      throw GRPCStatus(code: .invalidArgument, message: "a connection needs at least one stream")
    }
  }
}
