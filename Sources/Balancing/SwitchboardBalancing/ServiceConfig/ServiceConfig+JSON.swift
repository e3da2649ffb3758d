public import SwitchboardCall

extension ServiceConfig {
  /// Reads a config from JSON in gRPC's form, with `methodConfig`, `retryThrottling`, `loadBalancingConfig` and
  /// `healthCheckConfig`. Unknown members are ignored, as gRPC requires; a channel logs them when it starts to use the
  /// config, and `switchboard check-config` lists them.
  ///
  /// Throws `INVALID_ARGUMENT`, with the path and the reason, for invalid JSON, values of the wrong type, and
  /// contradictions.
  public init(json: String) throws(GRPCStatus) {
    guard case .object(let members) = try ConfigValue(json: json) else {
      throw .invalidServiceConfig("it is not an object")
    }
    try self.init(ConfigReader(members, at: ""))
  }

  /// Reads a config from an object of another one.
  package init(_ reader: ConfigReader) throws(GRPCStatus) {
    let audit = ConfigAudit()
    try self.init(followed: reader.followed(by: audit))
    remarks = audit.findings.prefix(ConfigFinding.mostReported).map(\.description)
  }

  init(followed reader: ConfigReader) throws(GRPCStatus) {
    var methodConfigs: [MethodConfig] = []
    for config in try reader.objects("methodConfig") ?? [] {
      let config = try config.making(MethodConfig.init)
      // It is for no method, and gRPC skips it.
      if !config.names.isEmpty { methodConfigs.append(config) }
    }
    let throttling = try reader.object("retryThrottling")?.making(RetryThrottling.init)
    var policies = try reader.policies("loadBalancingConfig")
    // The older form, which only has a name.
    if let policy = try reader.string("loadBalancingPolicy"), policies == nil {
      policies = [LoadBalancingConfig(policy.lowercased())]
    }
    let health = try reader.object("healthCheckConfig")
    try self.init(
      methodConfigs: methodConfigs,
      retryThrottling: throttling,
      loadBalancing: policies ?? [],
      healthCheckedService: try health?.string("serviceName")
    )
  }
}

extension MethodConfig {
  init(_ reader: ConfigReader) throws(GRPCStatus) {
    var names: [Name] = []
    for name in try reader.objects("name") ?? [] {
      names.append(try name.making(Name.init))
    }
    let timeout = try reader.duration("timeout")
    if timeout == .zero { reader.doubt("timeout", "is zero: calls of these methods would fail at once") }
    self.init(names: names, timeout: timeout)
    waitForReady = try reader.bool("waitForReady")
    maxRequestMessageBytes = try reader.count("maxRequestMessageBytes")
    maxResponseMessageBytes = try reader.count("maxResponseMessageBytes")
    let retry = try reader.object("retryPolicy")
    let hedging = try reader.object("hedgingPolicy")
    switch (retry, hedging) {
    case (nil, nil): break
    case (let retry?, nil): repetition = .retry(try retry.making(RetryPolicy.init))
    case (nil, let hedging?): repetition = .hedge(try hedging.making(HedgingPolicy.init))
    case (.some, .some): throw reader.failure("retryPolicy", "there is a hedgingPolicy too")
    }
  }
}

extension MethodConfig.Name {
  init(_ reader: ConfigReader) throws(GRPCStatus) {
    for member in ["service", "method"] {
      guard try reader.string(member)?.utf8.contains(UInt8(ascii: "/")) == true else { continue }
      reader.doubt(member, "has a slash, so it names nothing: 'service' and 'method' are two members")
    }
    try self.init(
      service: try reader.string("service") ?? "",
      method: try reader.string("method") ?? ""
    )
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
