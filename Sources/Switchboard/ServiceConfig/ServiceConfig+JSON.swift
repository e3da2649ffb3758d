import SwitchboardProtobuf

extension ServiceConfig {
  /// Reads a config from JSON in gRPC's form, with `methodConfig` and `retryThrottling`. Unknown members are ignored,
  /// as gRPC requires.
  ///
  /// Throws `INVALID_ARGUMENT` for invalid JSON, for values of the wrong type and for contradictions, saying where and
  /// why.
  public init(json: String) throws(GRPCStatus) {
    let root: Google_Protobuf_Struct
    do {
      root = try Google_Protobuf_Struct(jsonString: json)
    } catch {
      throw .invalidServiceConfig("\(error)")
    }
    let reader = ConfigReader(root, at: "")
    var methodConfigs: [MethodConfig] = []
    for config in try reader.objects("methodConfig") ?? [] {
      methodConfigs.append(try MethodConfig(config))
    }
    let throttling = try reader.object("retryThrottling").map { throttling throws(GRPCStatus) in
      try RetryThrottling(throttling)
    }
    try self.init(methodConfigs: methodConfigs, retryThrottling: throttling)
  }
}

extension MethodConfig {
  init(_ reader: ConfigReader) throws(GRPCStatus) {
    var names: [Name] = []
    for name in try reader.objects("name") ?? [] {
      names.append(
        try Name(service: try name.string("service") ?? "", method: try name.string("method") ?? "")
      )
    }
    guard !names.isEmpty else { throw reader.failure("name", "there is no name") }
    self.init(names: names, timeout: try reader.duration("timeout"))
    waitForReady = try reader.bool("waitForReady")
    maxRequestMessageBytes = try reader.count("maxRequestMessageBytes")
    maxResponseMessageBytes = try reader.count("maxResponseMessageBytes")
    let retry = try reader.object("retryPolicy")
    let hedging = try reader.object("hedgingPolicy")
    switch (retry, hedging) {
    case (nil, nil): break
    case (let retry?, nil): repetition = .retry(try RetryPolicy(retry))
    case (nil, let hedging?): repetition = .hedge(try HedgingPolicy(hedging))
    case (.some, .some): throw reader.failure("retryPolicy", "there is a hedgingPolicy too")
    }
  }
}

extension RetryPolicy {
  init(_ reader: ConfigReader) throws(GRPCStatus) {
    try self.init(
      maxAttempts: try reader.required("maxAttempts", try reader.count("maxAttempts")),
      initialBackoff: try reader.required("initialBackoff", try reader.duration("initialBackoff")),
      maxBackoff: try reader.required("maxBackoff", try reader.duration("maxBackoff")),
      backoffMultiplier: try reader.required("backoffMultiplier", try reader.number("backoffMultiplier")),
      retryableStatusCodes: try reader.codes("retryableStatusCodes")
    )
  }
}

extension HedgingPolicy {
  init(_ reader: ConfigReader) throws(GRPCStatus) {
    try self.init(
      maxAttempts: try reader.required("maxAttempts", try reader.count("maxAttempts")),
      hedgingDelay: try reader.duration("hedgingDelay") ?? .zero,
      nonFatalStatusCodes: try reader.codes("nonFatalStatusCodes")
    )
  }
}

extension RetryThrottling {
  init(_ reader: ConfigReader) throws(GRPCStatus) {
    try self.init(
      maxTokens: try reader.required("maxTokens", try reader.count("maxTokens")),
      tokenRatio: try reader.required("tokenRatio", try reader.number("tokenRatio"))
    )
  }
}
