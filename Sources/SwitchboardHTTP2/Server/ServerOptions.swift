import SwitchboardCall

/// What a server allows and how it runs. The defaults are safe against hostile clients.
public struct ServerOptions: Sendable {
  /// The largest request message, after decompression.
  public var maxRequestSize = 4 * 1024 * 1024
  /// How many calls a client may have open on one connection.
  public var maxConcurrentStreams = 100
  /// The largest block of request headers, counted as HTTP/2 counts it.
  public var maxMetadataSize = 16 * 1024
  /// How much of one stream's messages is held unread, each way, before their sender is made to wait: their bytes, and 96
  /// more for each.
  public var streamBufferSize = 256 * 1024
  /// How many bytes a client may send on one call before it must wait for us.
  public var streamLookahead = 1024 * 1024
  /// The same for all calls of a connection together.
  public var connectionWindow = 4 * 1024 * 1024
  /// What these windows may grow to, where much is in flight on the way here and is read as it comes: they follow
  /// the link's bandwidth and delay. No more than `streamLookahead` keeps both fixed.
  public var maxWindow = 8 * 1024 * 1024
  /// How many unread bytes of all streams of a connection are held before the whole connection is made to wait.
  public var connectionBufferSize = 64 * 1024 * 1024
  /// How many connections may be open at once; further ones are closed as soon as they are accepted.
  public var maxConnections = 16_384
  /// How long a connection without calls is kept. `nil`: for ever.
  public var maxConnectionIdle: Duration?
  /// How old a connection may become before its client is asked to make a new one. `nil`: any age.
  public var maxConnectionAge: Duration?
  /// How long calls may still take on a connection that has become too old.
  public var connectionAgeGrace = Duration.seconds(60)
  /// How long a client may be silent before it is asked for a sign of life.
  public var keepaliveInterval = Duration.seconds(7200)
  /// How long a client may take to give that sign.
  public var keepaliveTimeout = Duration.seconds(20)
  /// How far apart a client's pings must be while no call sends or receives anything. One that sends many
  /// too soon is told to calm down, and disconnected.
  public var minimumPingInterval = Duration.seconds(300)
  /// How many frames that do nothing for a call a client may send at once: resets, settings, pings,
  /// priorities, window updates, empty data. It regains a quarter of them each second, and four with each
  /// frame that is sent to it for a call. One that sends more is told to calm down, and disconnected.
  public var controlFrameAllowance = 1000
  /// How long a request may take to arrive where it has to be whole before its handler starts: one of a
  /// method that does not stream requests. `nil`: for ever.
  public var requestTimeout: Duration? = .seconds(120)
  /// How connections are secured. `nil`: they are not.
  public var tls: ServerTLS?
  /// How pages in browsers may call, by gRPC-Web. `nil`: they may not.
  public var web: WebOptions?
  /// How long a new connection may take to get through its handshakes, TLS and HTTP/2.
  public var handshakeTimeout = Duration.seconds(20)
  /// Whether the loops keep looking for the next event for up to 60 µs after each that has to do with calls, before
  /// they block. That takes the time of being woken out of a call's latency, for a core that is busy while
  /// calls go on; while none do it is idle.
  public var lowLatency = false
  /// Where handlers run. `nil`: on the loop of their connection, with no hop.
  public var handlerExecutor: (any TaskExecutor)?
  /// The formats that every method is served in, beside its own and those of its service, as far as they have
  /// marshallers for its messages.
  public var payloadFormats: [any PayloadFormat] = []

  /// Makes interceptors for every call, before those of the service that serves it.
  public var interceptorFactories: [any InterceptorFactory] = []
  /// Factories that are shared with others, before the server's own. Freezes the registry. `nil`: none.
  public var interceptorRegistry: InterceptorRegistry?

  /// Where to tell what happens to connections.
  public var logger = Logger.quiet
  /// Who is told of calls and connections, for metrics and tracing.
  public var observer: (any CallObserver)?

  /// The defaults.
  public init() {}
}

extension ServerOptions {
  /// With sizes and counts that HTTP/2 can express, and that can be doubled: whoever wants no limit sets the largest number
  /// there is.
  var inRange: ServerOptions {
    var options = self
    for size in [
      \ServerOptions.maxConcurrentStreams, \.maxMetadataSize, \.streamLookahead, \.connectionWindow,
      \.maxWindow,
    ] {
      options[keyPath: size] = min(max(0, options[keyPath: size]), Int(Int32.max))
    }
    // A stream without any room would wait for ever.
    options.streamBufferSize = max(1, options.streamBufferSize)
    return options
  }
}
