import SwitchboardCall

/// The options that gRPC's channel arguments set.
protocol ArgumentOptionSet: ChannelOptionSet {
  static var arguments: [ArgumentMeaning<Self>] { get }
}

extension ChosenOptions where Options: ArgumentOptionSet {
  /// Sets the option that a channel argument stands for, unless it is already chosen. Unknown names have no effect.
  mutating func take(_ argument: ChannelArgument, of name: String) throws(GRPCStatus) {
    for meaning in Options.arguments where meaning.name == name { try meaning.take(argument, &self) }
  }
}

/// The option that a channel argument sets.
struct ArgumentMeaning<Options: ChannelOptionSet>: Sendable {
  let name: String
  let take: @Sendable (ChannelArgument, inout ChosenOptions<Options>) throws(GRPCStatus) -> Void

  /// A negative argument sets the option to `unlimited`, if given.
  init<Value: ArgumentValue>(
    _ name: String,
    _ option: WritableKeyPath<Options, Value> & Sendable,
    unlimited: Value? = nil
  ) {
    self.name = name
    take = { given, chosen throws(GRPCStatus) in
      var value = unlimited
      if unlimited == nil || !given.isBelowZero { value = try Value(given, of: name) }
      if chosen[option] == nil { chosen[option] = value }
    }
  }
}

extension ChannelOptions: ArgumentOptionSet {
  static let arguments: [ArgumentMeaning<ChannelOptions>] = [
    ArgumentMeaning("grpc.initial_reconnect_backoff_ms", \.connectInitialBackoff),
    ArgumentMeaning("grpc.max_reconnect_backoff_ms", \.connectMaxBackoff),
    ArgumentMeaning("grpc.min_reconnect_backoff_ms", \.connectMinTimeout),
    ArgumentMeaning("grpc.max_receive_message_length", \.responseSizeLimit, unlimited: Int(UInt32.max)),
    ArgumentMeaning("grpc.max_message_length", \.responseSizeLimit, unlimited: Int(UInt32.max)),
    ArgumentMeaning("grpc.max_metadata_size", \.maxMetadataSize),
    ArgumentMeaning("grpc.http2.lookahead_bytes", \.streamLookahead),
    ArgumentMeaning("grpc.http2.hpack_table_size.encoder", \.hpackTableSizeEncoder),
    ArgumentMeaning("grpc.http2.hpack_table_size.decoder", \.hpackTableSizeDecoder),
    ArgumentMeaning("grpc.max_concurrent_streams", \.maxConcurrentStreams),
    ArgumentMeaning("grpc.per_rpc_retry_buffer_size", \.retryBufferSize),
    ArgumentMeaning("grpc.enable_retries", \.enableRetry),
    ArgumentMeaning("grpc.keepalive_time_ms", \.keepaliveInterval),
    ArgumentMeaning("grpc.keepalive_timeout_ms", \.keepaliveTimeout),
    ArgumentMeaning("grpc.keepalive_permit_without_calls", \.keepaliveWithoutCalls),
    ArgumentMeaning("grpc.primary_user_agent", \.userAgentPrefix),
    ArgumentMeaning("grpc.default_authority", \.authority),
  ]
}

extension PoolOptions: ArgumentOptionSet {
  static let arguments = [ArgumentMeaning("grpc.ssl_target_name_override", \PoolOptions.hostNameOverride)]
}

extension CallOptions {
  /// The arguments that have an effect in the options of a client only, and the options of calls that say the same.
  private static let argumentsOfClients = [
    ("grpc.service_config", "serviceConfig"), ("grpc.enable_retries", "enableRetry"),
    ("grpc.per_rpc_retry_buffer_size", "retryBufferSize"),
  ]

  /// Throws if one of these is not what the client's options say.
  func checkArguments(ofClient options: CallOptions) throws(GRPCStatus) {
    let (own, known) = (self.additionalChannelArgs ?? [:], options.additionalChannelArgs ?? [:])
    for (name, option) in Self.argumentsOfClients where own[name] != known[name] {
      throw .invalidOption(
        """
        additionalChannelArgs: \(name) has an effect only in the options with which Channel(host:options:) or its client \
        is made; for calls, set CallOptions.\(option)
        """
      )
    }
  }
}

/// A value that a channel argument can set.
protocol ArgumentValue: Hashable, Sendable {
  init(_ argument: ChannelArgument, of name: String) throws(GRPCStatus)
}

extension Int: ArgumentValue {
  init(_ argument: ChannelArgument, of name: String) throws(GRPCStatus) {
    guard case .integer(let number) = argument else { throw .invalidOption("\(name) is not a number") }
    guard (0...Int(Int32.max)).contains(number) else {
      throw .invalidOption("\(name) is \(number): it must be from 0 to \(Int32.max), as gRPC has it")
    }
    self = number
  }
}

extension Duration: ArgumentValue {
  init(_ argument: ChannelArgument, of name: String) throws(GRPCStatus) {
    self = .milliseconds(try Int(argument, of: name))
  }
}

extension Bool: ArgumentValue {
  init(_ argument: ChannelArgument, of name: String) throws(GRPCStatus) {
    guard case .integer(let number) = argument else { throw .invalidOption("\(name) is not a number") }
    guard number == 0 || number == 1 else { throw .invalidOption("\(name) is \(number): it must be 0 or 1") }
    self = number == 1
  }
}

extension String: ArgumentValue {
  init(_ argument: ChannelArgument, of name: String) throws(GRPCStatus) {
    guard case .string(let text) = argument else { throw .invalidOption("\(name) is not a string") }
    self = text
  }
}

extension Optional: ArgumentValue where Wrapped: ArgumentValue {
  init(_ argument: ChannelArgument, of name: String) throws(GRPCStatus) {
    self = try Wrapped(argument, of: name)
  }
}

extension ChannelArgument {
  fileprivate var isBelowZero: Bool {
    guard case .integer(let number) = self else { return false }
    return number < 0
  }
}
