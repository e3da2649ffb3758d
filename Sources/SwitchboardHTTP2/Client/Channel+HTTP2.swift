import SwitchboardCall

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
    self.init(
      try HTTP2ClientTransport(target: target, options: options, group: loops),
      serviceConfig: options.serviceConfig,
      retryBufferSize: options.retryBufferSize,
      enablesRetry: options.enableRetry,
      interceptorFactories: options.interceptorFactories,
      registry: options.interceptorRegistry,
      observer: options.observer
    )
  }
}
