// state: options, one beside the other

import SwitchboardBalancing
import SwitchboardCall

/// The limits and behavior of a server. The defaults are safe against hostile clients.
///
/// Making a server throws `INVALID_ARGUMENT` for values with which it could not serve. A limit of `.max` means none,
/// or the largest that HTTP/2 can express.
///
/// ```swift
/// var options = ServerOptions()
/// options.maxRequestSize = 64 * 1024
/// options.tls = ServerTLS(credentials: credentials)
/// let server = try Server(providers: [ShopProvider()], options: options)
/// ```
public struct ServerOptions: Sendable {
  /// The maximum size of a request message, after decompression.
  public var maxRequestSize = 4 * 1024 * 1024
  /// The maximum number of concurrent calls on one connection.
  public var maxConcurrentStreams = 100
  /// The maximum size of a block of request headers, as HTTP/2 counts it; at least 512.
  public var maxMetadataSize = 16 * 1024
  /// How many bytes of unread messages a stream holds in each direction before their sender must wait. Each message
  /// counts as 96 bytes more than its size.
  public var streamBufferSize = 256 * 1024
  /// How many bytes a client may send on one call before it must wait for the server.
  public var streamLookahead = 1024 * 1024
  /// How many bytes a client may send on all calls of a connection together.
  public var connectionWindow = 4 * 1024 * 1024
  /// The maximum that these windows may grow to. They grow with the link's bandwidth and delay, while messages are read
  /// as they arrive. A value of `streamLookahead` or less keeps both fixed.
  public var maxWindow = 8 * 1024 * 1024
  /// How many unread bytes of all streams of a connection are held before the whole connection must wait, and how many
  /// bytes of decompressed messages before its other messages stay compressed. Large messages that have not arrived whole,
  /// or whose calls have not begun, have an eighth of it together; beyond that, only one goes on. Large responses that the
  /// client has yet to read have half of it together; beyond that, its other calls wait.
  public var connectionBufferSize = 64 * 1024 * 1024
  /// The maximum number of open connections. Any more are closed as soon as they are accepted.
  public var maxConnections = 16_384
  /// How many handlers of the server may still run whose calls have ended, because a client has left or a deadline has
  /// passed, and the handlers do not return when they are cancelled. While so many do, new calls are refused, so that
  /// their clients may make them elsewhere. Those from one address are refused from half as many on.
  public var maxAbandonedHandlers = 10_000
  /// How long a connection without calls stays open. `nil`: without limit.
  public var maxConnectionIdle: Duration?
  /// The age at which a connection's client is asked to make a new one. `nil`: without limit.
  public var maxConnectionAge: Duration?
  /// How long calls may continue on a connection that has reached the maximum age, or that was without calls for too
  /// long when they began.
  public var connectionAgeGrace = Duration.seconds(60)
  /// How long a client may be silent before it is pinged.
  public var keepaliveInterval = Duration.seconds(7200)
  /// How long a client may take to answer the ping.
  public var keepaliveTimeout = Duration.seconds(20)
  /// The minimum interval between a client's pings while no call sends or receives anything. A client that often pings
  /// sooner is disconnected with the error ENHANCE_YOUR_CALM.
  public var minimumPingInterval = Duration.seconds(300)
  /// How many frames that serve no call a client may send at once: resets, settings, pings, priorities, window updates,
  /// empty data. It regains a quarter of them each second, and four with each frame that is sent to it for a call. A
  /// client that sends more is disconnected with the error ENHANCE_YOUR_CALM. At least 16.
  public var controlFrameAllowance = 1000
  /// How long a request may take to arrive if it must be complete before its handler starts, because the method does
  /// not stream requests, how long its client may take to read a page, and how long a call waits for its client to read the
  /// large responses of others. `nil`: without limit.
  public var requestTimeout: Duration? = .seconds(120)
  /// The TLS configuration. `nil`: connections are not encrypted.
  public var tls: ServerTLS?
  /// The options for gRPC-Web and Connect calls, from pages in browsers and from other HTTP clients. `nil`: such calls
  /// are rejected.
  public var web: WebOptions?
  /// Plain HTTP answers on the server's port, by HTTP/2 and HTTP/1.1: metrics, documents, probes.
  public var pages: [HTTPPage] = []
  /// The names that clients of pages must use for the server. `nil`: any.
  package var hosts: HostNames?
  /// Whether a new connection takes the place of one that is not used, if there are as many as allowed: for servers of few
  /// clients, which others must not shut out. It is one of the same event loop.
  package var makesRoomForConnections = false
  /// Makes the dialects of other modules, when the server is created; see `Dialect`. They are asked after the
  /// library's own. What one throws, creating the server throws.
  package var dialects: [@Sendable (RPCMethods) throws(GRPCStatus) -> any Dialect] = []
  /// How long the handshakes of a new connection may take, for TLS and HTTP/2.
  public var handshakeTimeout = Duration.seconds(20)
  /// Whether the loops spin for up to 60 µs after each event of a call before they block. This removes the time of
  /// waking up from the latency of calls, but keeps a core busy while calls are made. Without calls, the core is idle.
  public var lowLatency = false
  /// Whether each loop of the server's group has its own listening socket on a shared port (`SO_REUSEPORT`), over which
  /// the system distributes connections; on Linux only. Otherwise one loop accepts all connections and hands them to
  /// the loops in turn.
  public var reusePort = false
  /// Where handlers run; by default on the loop of their connection, without a thread switch. Pages run where `standard`
  /// says.
  public var handlerPlacements = HandlerPlacements()
  /// How long a loop of the server may be blocked before the log names the method that does it, and the observer is
  /// notified. Methods whose handlers run elsewhere block no loop. `nil`: nobody looks after the loops.
  public var blockedLoopLimit: Duration? = .milliseconds(50)
  /// The formats in which every method is offered, in addition to its own and those of its service, if they have
  /// marshallers for its messages.
  public var payloadFormats: [any PayloadFormat] = []

  /// Factories that make interceptors for every call. These run before those of the service.
  public var interceptorFactories: [any ServerInterceptorFactory] = []
  /// Factories that are shared with other servers and channels, and run before the server's own. Freezes the registry.
  public var interceptorRegistry: InterceptorRegistry?
  /// What no method's chain may lack, whichever factory makes it. By default, nothing is required.
  public var requiredInterceptors: RequiredInterceptors = []

  /// The logger of handlers and interceptors, for errors that they throw, and for events of connections. `quiet` switches
  /// it off.
  public var logger = Logger.standardError
  /// Whether clients learn what an error says that a handler or an interceptor throws, or the encoder of a response, and that
  /// determines no status; and what a status says that a channel of this process made and a handler lets pass, which may
  /// name a backend. Otherwise only the log says it: it may name files, queries or other people's data.
  public var sendsErrorDescriptions = false
  /// The observer of calls and connections, for metrics and tracing.
  public var observer: (any CallObserver)?

  /// The load of the server, which every call reports to its client in addition to what its handler reports. If both
  /// report the same figure, the handler's is sent. `nil`: calls report only what their handlers do.
  public var loadRecorder: LoadRecorder?

  /// Creates the default options.
  public init() {}
}

extension ServerOptions {
  /// The dialects besides gRPC, in the order in which they are asked.
  func makeDialects(for methods: RPCMethods) throws(GRPCStatus) -> [any Dialect] {
    var all: [any Dialect] = []
    if !pages.isEmpty { all.append(PageProtocol()) }
    let error = ConnectError(describe: web?.detailJSON, refuse: detailReport)
    if web != nil { all += [GRPCWebDialect(), ConnectDialect(error: error)] }
    for make in dialects { all.append(try make(methods)) }
    if !pages.isEmpty { all.append(OtherMethodOfPage()) }
    if web != nil { all.append(UnknownConnectMethod(error: error)) }
    return all
  }
}

extension ServerOptions {
  /// Logs, once, that what `WebOptions.detailJSON` returned is not sent.
  var detailReport: @Sendable (String) -> Void {
    let wasSaid = Locked(false)
    return { [logger] type in
      let isNews = wasSaid.withLock { wasSaid in
        defer { wasSaid = true }
        return !wasSaid
      }
      guard isNews else { return }
      logger.log(.error, "WebOptions.detailJSON returned what is not JSON: it is not sent", ["type": type])
    }
  }
}
