/// The options of a channel with what `additionalChannelArgs` say where no option does.
struct ChannelArguments: Hashable, Sendable {
  private(set) var settings: ChannelSettings
  private(set) var compression: MessageCompression
  private(set) var responseSizeLimit: Int?
  private(set) var enableRetry: Bool
  private(set) var keepaliveWithoutCalls = false
  private(set) var authority: String?

  /// Throws `INVALID_ARGUMENT` for an argument whose value is not of its kind.
  init(_ options: CallOptions) throws(GRPCStatus) {
    settings = options.channelSettings
    compression = options.compression
    responseSizeLimit = options.responseSizeLimit
    enableRetry = options.enableRetry
    // In an order of their own, since two names may say the same: `max_receive_message_length` goes first.
    for (name, value) in (settings.additionalChannelArgs ?? [:]).sorted(by: { $0.key > $1.key }) {
      try take(name, value)
    }
    normalize()
  }

  /// What is chosen as it is by default does not tell channels apart.
  private mutating func normalize() {
    let defaults = ChannelOptions()
    settings.keepaliveTimeout = settings.keepaliveTimeout ?? defaults.keepaliveTimeout
    settings.connectMinTimeout = settings.connectMinTimeout ?? defaults.minimumConnectTimeout
    settings.connectInitialBackoff = settings.connectInitialBackoff ?? defaults.initialBackoff
    settings.connectMaxBackoff = settings.connectMaxBackoff ?? defaults.maximumBackoff
    settings.transportType = settings.transportType ?? .secure
    settings.channelID = settings.channelID ?? 0
    settings.maxMetadataSize = settings.maxMetadataSize ?? defaults.maxHeaderListSize
    settings.retryBufferSize = settings.retryBufferSize ?? defaults.retryBufferSize
    responseSizeLimit = responseSizeLimit ?? defaults.maxResponseSize
    if settings.additionalChannelArgs?.isEmpty == true { settings.additionalChannelArgs = nil }
    if settings.logContext?.isEmpty == true { settings.logContext = nil }
    if settings.userAgentPrefix?.isEmpty == true { settings.userAgentPrefix = nil }
  }

  private mutating func take(_ name: String, _ value: ChannelArgument) throws(GRPCStatus) {
    switch name {
    case "grpc.primary_user_agent":
      let text = try value.text(name)
      settings.userAgentPrefix = settings.userAgentPrefix ?? text
    case "grpc.default_authority":
      authority = try value.text(name)
    case "grpc.ssl_target_name_override":
      let text = try value.text(name)
      guard !text.isEmpty else {
        throw .badArgument(name, "is empty: without a name any certificate would do")
      }
      settings.hostNameOverride = settings.hostNameOverride ?? text
    case "grpc.service_config":
      let config = try ServiceConfig(json: try value.text(name))
      settings.serviceConfig = settings.serviceConfig ?? config
    case "grpc.max_receive_message_length", "grpc.max_message_length":
      let number = try value.number(name)
      // -1 is gRPC's word for no limit.
      responseSizeLimit = responseSizeLimit ?? (number < 0 ? Int(UInt32.max) : number)
    case "grpc.enable_retries":
      let number = try value.number(name)
      enableRetry = enableRetry && number != 0
    case "grpc.keepalive_permit_without_calls":
      keepaliveWithoutCalls = try value.number(name) != 0
    default:
      try takeNumber(name, value)
    }
  }

  private static let times: [String: WritableKeyPath<ChannelSettings, Duration?> & Sendable] = [
    "grpc.keepalive_time_ms": \.keepaliveInterval,
    "grpc.keepalive_timeout_ms": \.keepaliveTimeout,
    "grpc.min_reconnect_backoff_ms": \.connectMinTimeout,
    "grpc.initial_reconnect_backoff_ms": \.connectInitialBackoff,
    "grpc.max_reconnect_backoff_ms": \.connectMaxBackoff,
  ]

  private static let sizes: [String: WritableKeyPath<ChannelSettings, Int?> & Sendable] = [
    "grpc.max_metadata_size": \.maxMetadataSize,
    "grpc.http2.hpack_table_size.encoder": \.hpackTableSizeEncoder,
    "grpc.http2.hpack_table_size.decoder": \.hpackTableSizeDecoder,
    "grpc.max_concurrent_streams": \.maxConcurrentStreams,
    "grpc.http2.lookahead_bytes": \.streamLookahead,
    "grpc.per_rpc_retry_buffer_size": \.retryBufferSize,
  ]

  private mutating func takeNumber(_ name: String, _ value: ChannelArgument) throws(GRPCStatus) {
    if let path = Self.times[name] {
      let time = Duration.milliseconds(try value.size(name))
      settings[keyPath: path] = settings[keyPath: path] ?? time
    } else if let path = Self.sizes[name] {
      let size = try value.size(name)
      settings[keyPath: path] = settings[keyPath: path] ?? size
    }
  }
}

extension ChannelArgument {
  fileprivate func text(_ name: String) throws(GRPCStatus) -> String {
    guard case .string(let text) = self else { throw .badArgument(name, "is not a string") }
    return text
  }

  fileprivate func number(_ name: String) throws(GRPCStatus) -> Int {
    guard case .integer(let number) = self else { throw .badArgument(name, "is not a number") }
    return number
  }

  fileprivate func size(_ name: String) throws(GRPCStatus) -> Int {
    let number = try number(name)
    guard (0...Int(Int32.max)).contains(number) else {
      throw .badArgument(name, "is \(number), out of range")
    }
    return number
  }
}

extension GRPCStatus {
  static func badArgument(_ name: String, _ reason: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: "the channel argument \(name) \(reason)")
  }
}
