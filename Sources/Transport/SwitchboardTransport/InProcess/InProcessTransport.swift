// unsafe: state confined to the transport's loop

import SwitchboardCall
import SwitchboardNetwork

/// Carries calls to services of the same process, without sockets or framing: an encoded message is passed on as it is.
/// Limits, deadlines, cancellation and backpressure work as on a connection.
final class InProcessTransport: ByteTransport, @unchecked Sendable {
  // Sendable because mutable state is only used on the loop.
  let loop: Loop
  let router: Router
  let options: ServerOptions
  let log: ServerLog
  let channelOptions: ChannelOptions
  let leftOut: LeftOutFields
  /// Whether either side has an observer. This costs less to read than an optional observer.
  let isObserved: Bool
  /// The tracer of calls at the server, if its observer traces.
  let tracer: (any ServerTracer)?
  let shutdown: ShutdownSignal
  /// The server whose services these are; `nil` if the channel has its own.
  private let server: ServerCore?
  private let group: LoopGroup
  private var calls: [ObjectIdentifier: InProcessCall] = [:]
  private var isShutDown = false
  private(set) var ending = ChannelEnd()

  init(
    _ providers: [any CallHandlerProvider],
    _ options: ServerOptions,
    _ channelOptions: ChannelOptions,
    _ group: LoopGroup
  ) throws(GRPCStatus) {
    router = try Router(providers, options)
    self.options = options
    log = ServerLog(options)
    self.channelOptions = channelOptions
    leftOut = LeftOutFields(channelOptions.logger)
    isObserved = options.observer != nil || channelOptions.observer != nil
    shutdown = ShutdownSignal()
    server = nil
    self.group = group
    let loop = group.nextLoop()
    self.loop = loop
    let telemetry = options.observer as? any TelemetryObserver
    telemetry?.serverWasMade()
    tracer = telemetry?.serverTracer(on: loop, peer: "inprocess")
    router.serverWasMade(of: providers, options, isInProcess: true)
  }

  /// Carries calls to the services of a server, until that stops.
  init(_ server: ServerCore, _ channelOptions: ChannelOptions) {
    router = server.router
    options = server.options
    log = server.log
    self.channelOptions = channelOptions
    leftOut = LeftOutFields(channelOptions.logger)
    isObserved = options.observer != nil || channelOptions.observer != nil
    shutdown = server.shutdown
    self.server = server
    group = server.group
    let loop = group.nextLoop()
    self.loop = loop
    tracer = server.telemetry?.serverTracer(on: loop, peer: "inprocess")
  }

  var requestLimit: MessageLimit { .request(options.maxRequestSize) }
  var eventLoop: any EventLoop { loop }
  var host: String { "" }
  var streamBufferSize: Int { channelOptions.streamBufferSize }
  var resolvedConfig: ResolvedConfig? { nil }

  /// There is nothing to connect.
  func connect() {}

  func makeCall(_ request: consuming CallRequest, receiver: any ResponseReceiver) -> any ByteCall {
    InProcessCall(request, receiver, self)
  }

  /// Why no more calls are accepted.
  var refusal: GRPCStatus { server?.isDraining == true ? .serverStopped : ending.status }

  /// Returns `false` if no more calls are accepted.
  func begin(_ call: InProcessCall) -> Bool {
    guard !isShutDown, !loop.hasEnded, server?.isDraining != true else { return false }
    calls[ObjectIdentifier(call)] = call
    // The loop must not end before the call, or its deadline would never pass.
    loop.openHandles += 1
    return true
  }

  func end(_ call: InProcessCall) {
    if calls.removeValue(forKey: ObjectIdentifier(call)) != nil { loop.openHandles -= 1 }
    resumeIfDrained()
  }

  func retire() {
    loop.execute {
      if !self.isShutDown { self.ending.wasReleased() }
      self.isShutDown = true
    }
  }

  func shutDown(grace: Duration) async {
    if server == nil { shutdown.begin() }
    let deadline = Task(executorPreference: loop) {
      try await self.loop.sleep(for: grace)
      self.loop.execute { self.endAll() }
    }
    await withCheckedContinuation { continuation in
      loop.execute {
        self.isShutDown = true
        self.ending.add(continuation)
        self.resumeIfDrained()
      }
    }
    deadline.cancel()
  }

  private func endAll() {
    for call in Array(calls.values) { call.close(.channelShutDown) }
  }

  private func resumeIfDrained() {
    guard isShutDown, calls.isEmpty else { return }
    ending.complete()
  }
}

extension Channel {
  /// Creates a channel to services within this process, for tests and for calls that need not leave it.
  ///
  /// Only options that concern calls apply: `options` to the services, `channelOptions` to the callers. What calls ask of
  /// a connection, such as `CallOptions.security`, has no effect here, so that a test may replace the channel of a client
  /// and keep its options. The channel runs on a loop of `group`, or on its own loop.
  ///
  /// ```swift
  /// let client = Hello_GreeterClient(channel: try Channel(inProcess: [ShopProvider()]))
  /// ```
  public convenience init(
    inProcess providers: [any CallHandlerProvider],
    options: ServerOptions = ServerOptions(),
    channelOptions: ChannelOptions = ChannelOptions(),
    group: LoopGroup? = nil
  ) throws(GRPCStatus) {
    try channelOptions.validate()
    for remark in channelOptions.serviceConfig?.remarks ?? [] {
      channelOptions.logger.log(.warning, "the service config: \(remark)", ["target": "inprocess"])
    }
    let loops: LoopGroup
    if let group { loops = group } else { loops = try LoopGroup() }
    self.init(try InProcessTransport(providers, try options.checked(), channelOptions, loops), channelOptions)
  }

  /// Creates a channel to the services of a server of this process: its interceptors, its limits and its observer see the calls
  /// as they see those of connections. It does not keep the server from stopping.
  package convenience init(to server: Server, channelOptions: ChannelOptions = ChannelOptions())
    throws(GRPCStatus)
  {
    try channelOptions.validate()
    self.init(InProcessTransport(server.core, channelOptions), channelOptions)
  }

  private convenience init(_ transport: InProcessTransport, _ channelOptions: ChannelOptions) {
    self.init(
      transport,
      serviceConfig: channelOptions.serviceConfig,
      retryBufferSize: channelOptions.retryBufferSize,
      enablesRetry: channelOptions.enableRetry,
      interceptorFactories: channelOptions.interceptorFactories,
      registry: channelOptions.interceptorRegistry,
      tracer: (channelOptions.observer as? any TelemetryObserver)?.channelTracer(
        target: "inprocess",
        on: transport.loop
      ),
      environment: CallEnvironment(time: transport.loop.clock),
      logger: channelOptions.logger.adding(["target": "inprocess"])
    )
  }
}
