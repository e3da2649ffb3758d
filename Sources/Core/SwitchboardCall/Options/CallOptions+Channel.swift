// Options of the channel. Calls that differ in any of them use different channels of a pool. A channel created by the
// user refuses calls with them, except for those that also apply to calls.
extension CallOptions {
  /// How requests are compressed. For responses, the server chooses among the encodings that the client accepts.
  public var compression: MessageCompression {
    get { box?.choices.compression ?? .none }
    set { choose { $0.compression = newValue } }
  }

  /// The largest response accepted, after decompression. `nil` means the channel's limit.
  public var responseSizeLimit: Int? {
    get { box?.choices.responseSizeLimit }
    set { choose { $0.responseSizeLimit = newValue } }
  }

  /// Whether the service config's policies may repeat the call; `true` by default. A request that never reached a
  /// server is always sent again.
  public var enableRetry: Bool {
    get { box?.choices.enableRetry ?? true }
    set { choose { $0.enableRetry = newValue } }
  }

  /// Per-method timeouts, limits and retries. They replace the channel's own as a whole, also for methods that only those
  /// have: the log says so, unless the config here is empty. That holds for a channel created by the user as well, which logs
  /// that a load balancing policy or a health check here has no effect.
  public var serviceConfig: ServiceConfig? {
    get { box?.choices.serviceConfig }
    set { choose { $0.serviceConfig = newValue } }
  }

  /// Whether a proxy is used, and which; `.environment` by default.
  public var proxy: ProxyOption {
    // Not an optional like other options, for which `.none` would be `nil`.
    get { box?.choices.channel?.channel[\.proxy] ?? .environment }
    set { setChannel { channel, _ in channel[\.proxy] = newValue } }
  }

  /// An option of the channel by its name in `ChannelOptions`, such as `keepaliveInterval`. `nil` if it is not set.
  @_disfavoredOverload
  public subscript<Value: Hashable & Sendable>(
    dynamicMember option: WritableKeyPath<ChannelOptions, Value> & Sendable
  ) -> Value? {
    get { box?.choices.channel?.channel[option] }
    set { setChannel { channel, _ in channel[option] = newValue } }
  }

  /// An option of the channel that is `nil` by default, by its name in `ChannelOptions`.
  public subscript<Value: Hashable & Sendable>(
    dynamicMember option: WritableKeyPath<ChannelOptions, Value?> & Sendable
  ) -> Value? {
    get { box?.choices.channel?.channel[option] }
    set { setChannel { channel, _ in channel[option] = newValue } }
  }

  /// An option by its name in `PoolOptions`, such as `channelID`. `nil` if it is not set.
  @_disfavoredOverload
  public subscript<Value: Hashable & Sendable>(
    dynamicMember option: WritableKeyPath<PoolOptions, Value> & Sendable
  ) -> Value? {
    get { box?.choices.channel?.pool[option] }
    set { setChannel { _, pool in pool[option] = newValue } }
  }

  /// An option that is `nil` by default, by its name in `PoolOptions`.
  public subscript<Value: Hashable & Sendable>(
    dynamicMember option: WritableKeyPath<PoolOptions, Value?> & Sendable
  ) -> Value? {
    get { box?.choices.channel?.pool[option] }
    set { setChannel { _, pool in pool[option] = newValue } }
  }

  private mutating func setChannel(
    _ change: (inout ChosenOptions<ChannelOptions>, inout ChosenOptions<PoolOptions>) -> Void
  ) {
    let known = box?.choices.channel
    var channel = known?.channel ?? ChosenOptions()
    var pool = known?.pool ?? ChosenOptions()
    change(&channel, &pool)
    choose { $0.channel = ChannelChoices(channel, pool) }
  }

  /// The channel options that were chosen, including those that also apply to calls.
  package var channelOptions: ChosenOptions<ChannelOptions> {
    guard let choices = box?.choices else { return ChosenOptions() }
    var channel = choices.channel?.channel ?? ChosenOptions()
    channel[\.responseSizeLimit] = choices.responseSizeLimit
    channel[\.enableRetry] = choices.enableRetry
    channel[\.serviceConfig] = choices.serviceConfig
    return channel
  }

  package var poolOptions: ChosenOptions<PoolOptions> { box?.choices.channel?.pool ?? ChosenOptions() }

  /// Whether a quick comparison shows that a channel for `other` also suits these options.
  package func clearlySharesChannel(with other: CallOptions) -> Bool {
    if box === other.box { return true }
    return box?.choices.channel === other.box?.choices.channel
      && compression == other.compression && responseSizeLimit == other.responseSizeLimit
      && enableRetry == other.enableRetry && serviceConfig == other.serviceConfig
  }
}

// Options that have no effect, which must not go unnoticed: a call that asks for TLS must not be sent in plaintext.
extension CallOptions {
  /// Why a call cannot be made on a channel that was created with its own options, if these ask for another channel.
  var refusalOfOwnChannel: GRPCStatus? {
    guard let channel = box?.choices.channel else { return nil }
    // These calls use on any channel.
    let names =
      channel.channel.names(except: [\ChannelOptions.retryBufferSize])
      + channel.pool.names(except: [\PoolOptions.logContext])
    guard !names.isEmpty else { return nil }
    return .invalidOption(
      """
      \(names.map { "CallOptions.\($0)" }.joined(separator: ", ")): a call cannot change the channel that its client was \
      given. Set this in the ChannelOptions of the channel, or make the client with host: instead of channel:
      """
    )
  }
}
