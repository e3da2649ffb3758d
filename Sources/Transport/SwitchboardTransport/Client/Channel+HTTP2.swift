import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork

extension Channel {
  /// Creates a channel over HTTP/2, which connects when the first call starts.
  ///
  /// The target is `host:port`, `dns:///host:port`, `ipv4:1.2.3.4:80`, `ipv6:[::1]:80` or `unix:path`. The channel runs
  /// on the loops of `group`, or on its own loop.
  public convenience init(
    target: String,
    options: ChannelOptions = ChannelOptions(),
    group: LoopGroup? = nil
  ) throws(GRPCStatus) {
    let loops: LoopGroup
    if let group { loops = group } else { loops = try LoopGroup() }
    var options = options
    // Other channels may have the same logger.
    options.logger = options.logger.withOwnLevel
    let transport = try HTTP2ClientTransport(
      target: target,
      options: options,
      group: loops,
      loop: loops.nextLoop(),
      proxies: .ofProcess,
      singleCalls: .ofProcess
    )
    self.init(
      transport,
      serviceConfig: options.serviceConfig,
      retryBufferSize: options.retryBufferSize,
      enablesRetry: options.enableRetry,
      interceptorFactories: options.interceptorFactories,
      registry: options.interceptorRegistry,
      tracer: (options.observer as? any TelemetryObserver)?.channelTracer(
        target: transport.destination.target.canonical,
        on: transport.loop
      ),
      environment: CallEnvironment(time: transport.loop.clock),
      hasOwnOptions: true,
      logger: options.logger.adding(["target": target])
    )
  }

  /// A channel to a host and a port. It connects when the first call needs it.
  public static func connect(
    host: String,
    port: Int,
    options: ChannelOptions = ChannelOptions(),
    group: LoopGroup? = nil
  ) throws(GRPCStatus) -> Channel {
    // An IPv6 address contains colons.
    let host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    return try Channel(target: "\(host):\(port)", options: options, group: group)
  }

  @available(*, unavailable, message: "call Channel.connect(host:port:), or Channel(target: \"host:port\")")
  public convenience init(
    host: String,
    port: Int,
    options: ChannelOptions = ChannelOptions(),
    group: LoopGroup? = nil
  ) throws(GRPCStatus) {
    try self.init(target: "\(host):\(port)", options: options, group: group)
  }

  /// The current state of the channel's connections, and each later one. A slow reader gets the latest states, not all.
  /// A channel without connections, such as one within the process, is always ready.
  ///
  /// ```swift
  /// for await state in channel.connectivity { print(state) }
  /// ```
  public var connectivity: AsyncStream<ConnectivityState> {
    if let transport = transport as? HTTP2ClientTransport { return transport.connectivity }
    return AsyncStream { continuation in
      continuation.yield(.ready)
      continuation.finish()
    }
  }

  /// Connects now instead of with the first call.
  public func connect() { transport.connect() }
}
