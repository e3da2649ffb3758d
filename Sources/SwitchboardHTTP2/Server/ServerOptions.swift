/// What a server allows and how it runs. The defaults are safe against hostile clients.
public struct ServerOptions: Sendable {
  /// The largest request message, after decompression.
  public var maxRequestSize = 4 * 1024 * 1024
  /// How many calls a client may have open on one connection.
  public var maxConcurrentStreams = 100
  /// The largest block of request headers, counted as HTTP/2 counts it.
  public var maxHeaderListSize = 16 * 1024
  /// How many unread bytes of one stream are held before its sender is made to wait.
  public var streamBufferSize = 256 * 1024
  /// How many bytes a client may send on one call before it must wait for us.
  public var streamWindow = 1024 * 1024
  /// The same for all calls of a connection together.
  public var connectionWindow = 4 * 1024 * 1024
  /// How many connections are open at once; further ones wait to be accepted.
  public var maxConnections = 16_384
  /// How connections are secured. `nil`: they are not.
  public var tls: ServerTLS?
  /// How long a new connection may take to get through its handshakes, TLS and HTTP/2.
  public var handshakeTimeout = Duration.seconds(20)
  /// Where handlers run. `nil`: on the loop of their connection, with no hop.
  public var handlerExecutor: (any TaskExecutor)?

  public init() {}
}
