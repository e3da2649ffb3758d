// What concerns the channel. The channels of a pool are told apart by all of it; a channel that the user made is not
// changed by it, but for those that calls use too.
extension CallOptions {
  /// How request messages are compressed. Responses are as the server chooses, among what we announce.
  public var compression: MessageCompression {
    get { box?.choices.compression ?? .none }
    set { choose { $0.compression = newValue } }
  }

  /// The largest response message that is accepted, after decompression. `nil`: the channel's own limit.
  public var responseSizeLimit: Int? {
    get { box?.choices.responseSizeLimit }
    set { choose { $0.responseSizeLimit = newValue } }
  }

  /// Whether the call may be made again by the policies of the service config. It is unless this is `false`; a
  /// request that never reached a server is sent again in any case.
  public var enableRetry: Bool {
    get { box?.choices.enableRetry ?? true }
    set { choose { $0.enableRetry = newValue } }
  }

  /// What is configured per method: timeouts, limits, retries. It takes the place of the channel's own, also where the
  /// user made the channel.
  public var serviceConfig: ServiceConfig? {
    get { box?.choices.serviceConfig }
    set { choose { $0.serviceConfig = newValue } }
  }

  /// An option of the channel by its name in `ChannelOptions`, such as `keepaliveInterval`. `nil`: it is not chosen.
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

  /// An option by its name in `PoolOptions`, such as `channelID`. `nil`: it is not chosen.
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

  /// What was chosen of the channel's options, with those that calls use too.
  package var channelOptions: ChosenOptions<ChannelOptions> {
    guard let choices = box?.choices else { return ChosenOptions() }
    var channel = choices.channel?.channel ?? ChosenOptions()
    channel[\.responseSizeLimit] = choices.responseSizeLimit
    channel[\.enableRetry] = choices.enableRetry
    channel[\.serviceConfig] = choices.serviceConfig
    return channel
  }

  /// What was chosen of a pool's options.
  package var poolOptions: ChosenOptions<PoolOptions> { box?.choices.channel?.pool ?? ChosenOptions() }

  /// Whether a channel made for `other` is the one for these options too, as far as that can be told at once.
  package func clearlySharesChannel(with other: CallOptions) -> Bool {
    if box === other.box { return true }
    return box?.choices.channel === other.box?.choices.channel
      && compression == other.compression && responseSizeLimit == other.responseSizeLimit
      && enableRetry == other.enableRetry && serviceConfig == other.serviceConfig
  }
}
