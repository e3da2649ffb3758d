import SwitchboardCall

/// Carries calls to services of the same process, without sockets or framing: a message that was encoded
/// is handed over as it is. Limits, deadlines, cancellation and backpressure are those of a connection.
final class InProcessTransport: ByteTransport, @unchecked Sendable {
  // Sendable holds because what changes is touched on the loop alone.
  let loop: Loop
  let router: Router
  let options: ServerOptions
  let channelOptions: ChannelOptions
  /// Whether either side has an observer: looking at one that is not there costs more than this.
  let isObserved: Bool
  private let group: LoopGroup
  private var calls: [ObjectIdentifier: InProcessCall] = [:]
  private var isShutDown = false
  private var drained: [CheckedContinuation<Void, Never>] = []

  init(
    _ providers: [any CallHandlerProvider],
    _ options: ServerOptions,
    _ channelOptions: ChannelOptions,
    _ group: LoopGroup
  ) {
    router = Router(providers, options)
    self.options = options
    self.channelOptions = channelOptions
    isObserved = options.observer != nil || channelOptions.observer != nil
    self.group = group
    loop = group.nextLoop()
  }

  var eventLoop: any EventLoop { loop }
  var streamBufferSize: Int { channelOptions.streamBufferSize }

  func makeCall(_ request: consuming CallRequest, receiver: any ResponseReceiver) -> any ByteCall {
    InProcessCall(request, receiver, self)
  }

  /// `false` when no more calls are taken.
  func begin(_ call: InProcessCall) -> Bool {
    guard !isShutDown, !loop.hasEnded else { return false }
    calls[ObjectIdentifier(call)] = call
    // Its loop must not end before it: the deadline would never pass.
    loop.openHandles += 1
    return true
  }

  func end(_ call: InProcessCall) {
    if calls.removeValue(forKey: ObjectIdentifier(call)) != nil { loop.openHandles -= 1 }
    resumeIfDrained()
  }

  func retire() {
    loop.execute { self.isShutDown = true }
  }

  func shutDown(grace: Duration) async {
    let deadline = Task(executorPreference: loop) {
      try await self.loop.sleep(for: grace)
      self.loop.execute { self.endAll() }
    }
    await withCheckedContinuation { continuation in
      loop.execute {
        self.isShutDown = true
        self.drained.append(continuation)
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
    for continuation in drained { continuation.resume() }
    drained = []
  }
}

extension Channel {
  /// A channel to services within this process, for tests and for calls that need not leave it.
  ///
  /// Of the options, those that concern calls apply: `options` for the services' side, `channelOptions` for the
  /// callers'. Runs on a loop of `group`, or on one of its own.
  public convenience init(
    inProcess providers: [any CallHandlerProvider],
    options: ServerOptions = ServerOptions(),
    channelOptions: ChannelOptions = ChannelOptions(),
    group: LoopGroup? = nil
  ) throws(GRPCStatus) {
    let loops: LoopGroup
    if let group { loops = group } else { loops = try LoopGroup() }
    self.init(
      InProcessTransport(providers, options, channelOptions, loops),
      serviceConfig: channelOptions.serviceConfig,
      retryBufferSize: channelOptions.retryBufferSize,
      enablesRetry: channelOptions.enableRetry,
      interceptorFactories: channelOptions.interceptorFactories,
      registry: channelOptions.interceptorRegistry
    )
  }
}
