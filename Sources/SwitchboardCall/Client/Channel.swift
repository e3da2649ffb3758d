/// What generated clients make their calls on: a transport, and the four kinds of call over it.
///
/// Transports come from the runtime: over HTTP/2, or within the process. Letting go of a channel lets its
/// calls finish, and then closes its connections.
public final class Channel: Sendable {
  /// What carries the calls.
  package let transport: any ByteTransport
  /// Makes interceptors for every call on the channel, behind those of the client that makes the call.
  public let interceptorFactories: [any InterceptorFactory]
  /// The transport with what is configured per method, tokens and retries.
  @usableFromInline let engine: CallEngine

  /// A channel over any transport. The service config is for calls that bring none of their own; of each call, up to
  /// `retryBufferSize` bytes of requests are kept to make it again.
  /// The factories of `registry`, which is then frozen, come behind the channel's own.
  package init(
    _ transport: any ByteTransport,
    serviceConfig: ServiceConfig? = nil,
    retryBufferSize: Int? = nil,
    enablesRetry: Bool = true,
    interceptorFactories: [any InterceptorFactory] = [],
    registry: InterceptorRegistry? = nil,
    environment: CallEnvironment = CallEnvironment()
  ) {
    self.transport = transport
    self.interceptorFactories = interceptorFactories + (registry?.freeze() ?? [])
    engine = CallEngine(
      transport,
      serviceConfig,
      retryBufferSize: retryBufferSize,
      enablesRetry: enablesRetry,
      environment
    )
  }

  deinit { transport.retire() }

  /// How much a stream holds unread before its writer waits.
  @usableFromInline var streamBufferSize: Int { engine.streamBufferSize }

  /// The executor to prefer for calls that should not change threads on their way.
  public var eventLoop: any EventLoop { transport.eventLoop }

  /// Lets calls under way finish for as long as `grace` allows, and refuses new ones.
  public func shutDown(grace: Duration = .seconds(30)) async {
    await transport.shutDown(grace: grace)
  }
}
