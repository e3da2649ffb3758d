import SwitchboardCall
import SwitchboardNetwork

/// Connects a client to its host over a pool: each call uses the channel that its options select.
final class PooledTransport: ByteTransport {
  private let pool: ChannelPool
  private let target: String
  private let options: CallOptions
  private let loop: Loop
  /// Whether calls come from a host to which they may have gone by TLS. What was secret on the way to it is not sent to
  /// another in plaintext, unless the options say so.
  private let keepsTLS: Bool
  /// Whether a call has shown that its client has the options of calls among the channel's.
  private let isCompared = Locked(false)
  /// The channel for the client's own options.
  private let usual = Locked<PooledChannel?>(nil)

  init(
    _ pool: ChannelPool,
    _ target: String,
    _ options: CallOptions,
    loop: Loop,
    keepsTLS: Bool = false
  ) {
    self.pool = pool
    self.target = target
    self.options = options
    self.loop = loop
    self.keepsTLS = keepsTLS
  }

  var eventLoop: any EventLoop { loop }

  var host: String { target }
  var streamBufferSize: Int { options.channelOptions.options.streamBufferSize }
  /// Each of the pool's channels has its own.
  var resolvedConfig: ResolvedConfig? { nil }

  /// A transport to another host over the same pool, with the same options.
  func sibling(for host: String) -> any ByteTransport {
    if host == target { return self }
    let keepsTLS = keepsTLS || !HTTP2ClientTransport.isOnThisMachine(target)
    return PooledTransport(pool, host, options, loop: loop, keepsTLS: keepsTLS)
  }

  /// The options of the channel for a call with these.
  private func secured(_ options: CallOptions) -> CallOptions {
    guard keepsTLS, options.security ?? .automatic == .automatic else { return options }
    var options = options
    options.security = .tls()
    return options
  }

  /// Connects the channel for the client's own options.
  func connect() {
    let channel = try? pool.channel(to: target, try ChannelArguments(secured(options)), on: loop)
    channel?.connect()
  }

  func makeCall(_ request: consuming CallRequest, receiver: any ResponseReceiver) -> any ByteCall {
    let options = request.options ?? CallOptions()
    let isUsual = options.clearlySharesChannel(with: self.options)
    if isUsual, let call = usual.withLock({ $0 })?.makeCall(request, receiver) { return call }
    compare(options)
    do {
      try options.checkArguments(ofClient: self.options)
      let arguments = try ChannelArguments(secured(options))
      while true {
        let channel = try pool.channel(to: target, arguments, on: loop)
        if isUsual { usual.withLock { $0 = channel } }
        // The pool no longer has a channel that has just been closed.
        if let call = channel.makeCall(request, receiver) { return call }
      }
    } catch {
      return RefusedCall(request, loop, receiver, error)
    }
  }

  /// Finds out with the first call whether options of calls were given to the channel alone.
  private func compare(_ options: CallOptions) {
    let isFirst = isCompared.withLock { isCompared in
      defer { isCompared = true }
      return !isCompared
    }
    if isFirst { pool.report(lost: self.options.namesOfChoices(lackingIn: options), of: target) }
  }

  /// Does nothing: the pool closes unused channels.
  func retire() {}

  func shutDown(grace: Duration) async {}
}

extension Channel {
  /// A channel to `host` over the channels of a pool, selected for each call by its options. Without `pool`, it uses
  /// the process's pool.
  ///
  /// What `options` say of calls, such as a timeout, has to be given to the client too: the log says so if it was not.
  ///
  /// It never fails: an invalid host or option becomes the status of each call.
  public convenience init(host: String, options: CallOptions = CallOptions(), pool: ChannelPool? = nil) {
    do throws(GRPCStatus) {
      let owner: ChannelPool
      if let pool { owner = pool } else { owner = try ChannelPool.ofProcess.get() }
      let settings = try ChannelArguments(options).channel
      let loop = owner.loop(for: host)
      self.init(
        PooledTransport(owner, host, options, loop: loop),
        serviceConfig: settings[\.serviceConfig],
        retryBufferSize: settings[\.retryBufferSize],
        enablesRetry: settings[\.enableRetry] ?? true,
        tracer: (owner.observer as? any TelemetryObserver)?.channelTracer(
          target: HTTP2ClientTransport.observedTarget(host),
          on: loop
        ),
        environment: CallEnvironment(time: loop.clock)
      )
    } catch {
      self.init(FailingTransport(error))
    }
  }
}
