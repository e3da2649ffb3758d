/// What generated clients make their calls on: a transport, and the four kinds of call over it.
///
/// Transports come from the runtime: over HTTP/2, or within the process. Letting go of a channel lets its
/// calls finish, and then closes its connections.
public final class Channel: Sendable {
  /// What carries the calls.
  public let transport: any ByteTransport
  /// Makes interceptors for every call on the channel, behind those of the client that makes the call.
  public let interceptorFactories: [any InterceptorFactory]

  /// A channel over any transport. The factories of `registry`, which is then frozen, come behind the channel's own.
  public init(
    _ transport: any ByteTransport,
    interceptorFactories: [any InterceptorFactory] = [],
    registry: InterceptorRegistry? = nil
  ) {
    self.transport = transport
    self.interceptorFactories = interceptorFactories + (registry?.freeze() ?? [])
  }

  deinit { transport.retire() }

  /// The executor to prefer for calls that should not change threads on their way.
  public var eventLoop: any EventLoop { transport.eventLoop }

  /// Lets calls under way finish for as long as `grace` allows, and refuses new ones.
  public func shutDown(grace: Duration = .seconds(30)) async {
    await transport.shutDown(grace: grace)
  }
}
