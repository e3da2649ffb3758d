/// Carries the calls of generated clients over a transport: HTTP/2 or in-process.
///
/// When the last reference is released, calls that have a connection finish, and then the connections close. Calls that
/// still wait for one fail with `UNAVAILABLE`.
///
/// ```swift
/// let channel = try Channel(target: "greeter.example:443")
/// let client = Hello_GreeterClient(channel: channel)
/// print(try await client.get(request).text)
/// await channel.shutDown()
/// ```
public final class Channel: Sendable {
  package let transport: any ByteTransport
  /// Factories of interceptors for every call on the channel, which follow the client's.
  @usableFromInline let interceptorFactories: [any ClientInterceptorFactory]
  /// The transport, with per-method configuration, tokens and retries added.
  @usableFromInline let engine: CallEngine
  let logger: Logger
  /// Those whose responses wait to be asked for.
  let unread = UnreadCalls()

  /// A channel over any transport. `serviceConfig` applies to calls that have none; up to `retryBufferSize` bytes of
  /// each call's requests are kept for retries. Freezes `registry`, whose factories follow `interceptorFactories`. With
  /// `hasOwnOptions`, calls whose options ask for another channel are refused. What has no effect in the service configs of
  /// calls is logged to `logger`.
  package init(
    _ transport: any ByteTransport,
    serviceConfig: ServiceConfig? = nil,
    retryBufferSize: Int? = nil,
    enablesRetry: Bool = true,
    interceptorFactories: [any ClientInterceptorFactory] = [],
    registry: InterceptorRegistry? = nil,
    tracer: (any ChannelTracer)? = nil,
    environment: CallEnvironment = CallEnvironment(),
    hasOwnOptions: Bool = false,
    logger: Logger = .quiet
  ) {
    self.transport = transport
    self.logger = logger
    self.interceptorFactories = interceptorFactories + (registry?.freeze(for: .channel).client ?? [])
    if registry == nil { UnusedFactories.ofProcess.report(to: .channel, logger) }
    engine = CallEngine(
      transport,
      serviceConfig,
      retryBufferSize: retryBufferSize,
      enablesRetry: enablesRetry,
      environment,
      tracer: tracer,
      hasOwnOptions: hasOwnOptions,
      remarks: ConfigRemarks(logger)
    )
  }

  deinit { transport.retire() }

  /// How many unread bytes a stream holds before its writer waits.
  @usableFromInline var streamBufferSize: Int { engine.streamBufferSize }

  /// Starts a call without interceptors. Not inlined into users' modules, where the request would be copied on its way
  /// to the engine. A copy counts references to the method's descriptor and to the transport, which concurrent calls
  /// share, so that threads would contend.
  @usableFromInline
  func startCall(
    _ method: MethodDescriptor,
    options: CallOptions?,
    body: CallRequest.Body,
    responses: MessagePipe?,
    contentSubtype: ContentSubtype,
    receiver: CallReceiver
  ) -> any ByteCall {
    let call = engine.makeCall(
      CallRequest(
        method: method,
        options: options,
        body: body,
        responses: responses,
        contentSubtype: contentSubtype
      ),
      receiver: receiver
    )
    call.start()
    return call
  }

  /// The loop of the channel's calls. A task that prefers it as its executor makes calls without changing threads.
  public var eventLoop: any EventLoop { transport.eventLoop }

  /// Refuses new calls and lets calls in flight finish within `grace`, of which less than zero is zero.
  public func shutDown(grace: Duration = .seconds(30)) async {
    let time = engine.environment.time
    let end = time.deadline(after: grace).time
    await transport.shutDown(grace: grace)
    await unread.end(at: end, by: time, on: eventLoop)
  }
}

extension Channel {
  @available(*, unavailable, renamed: "shutDown(grace:)")
  public func close() async {}

  @available(*, unavailable, renamed: "shutDown(grace:)")
  public func shutdown() async {}
}
