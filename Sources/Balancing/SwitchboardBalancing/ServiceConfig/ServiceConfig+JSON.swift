public import SwitchboardCall

extension ServiceConfig {
  /// Reads a config from JSON in gRPC's form, with `methodConfig`, `retryThrottling`, `loadBalancingConfig` and
  /// `healthCheckConfig`. Unknown members are ignored, as gRPC requires; a channel logs them when it starts to use the
  /// config, and `switchboard check-config` lists them.
  ///
  /// Throws `INVALID_ARGUMENT`, with the path, the reason and the line, for invalid JSON, values of the wrong type, and
  /// contradictions.
  public init(json: String) throws(GRPCStatus) {
    guard case .object(let members) = try ConfigValue(json: json) else {
      throw .invalidServiceConfig("", "it is not an object")
    }
    do throws(GRPCStatus) {
      try self.init(ConfigReader(members, at: ""))
    } catch { throw error.located(in: json) }
  }

  /// Reads a config from an object of another one.
  package init(_ reader: ConfigReader) throws(GRPCStatus) {
    let audit = ConfigAudit()
    try self.init(followed: reader.followed(by: audit))
    let findings = audit.findings
    remarks = (findings + (try doubtsOfParts(in: reader, besides: findings))).prefix(
      ConfigFinding.mostReported
    ).map(\.description)
  }

  /// What is doubtful in members of this JSON that would be right beside others, unless something in them was found already.
  func doubtsOfParts(
    in reader: ConfigReader,
    besides findings: [ConfigFinding]
  ) throws(GRPCStatus) -> [ConfigFinding] {
    let found = ConfigPaths(findings.map(\.path))
    return (doubtsOfParts + (try reader.doubtsOfOlderPolicy(beside: loadBalancing))).filter {
      !found.hasAny(in: $0.path)
    }
  }

  init(followed reader: ConfigReader) throws(GRPCStatus) {
    var methodConfigs: [MethodConfig] = []
    for config in try reader.objects("methodConfig") ?? [] { methodConfigs.append(try MethodConfig(config)) }
    var throttling: RetryThrottling?
    if let object = try reader.object("retryThrottling") { throttling = try RetryThrottling(object) }
    let policies = try reader.policies("loadBalancingConfig")
    if policies?.isEmpty == true {
      let reason = "is empty: it names no policy, so that the default is used"
      reader.note([.doubt("loadBalancingConfig", reason)])
    }
    let older = try reader.olderPolicy()
    let health = try reader.healthCheckedService()
    self = try reader.making { () throws(GRPCStatus) in
      methodConfigs
    } _: { configs throws(GRPCStatus) in
      try ServiceConfig(
        methodConfigs: configs,
        retryThrottling: throttling,
        loadBalancing: policies ?? older ?? [],
        healthCheckedService: health
      )
    }
  }
}

extension ConfigReader {
  /// The policy in the older form, which only has a name.
  fileprivate func olderPolicy() throws(GRPCStatus) -> [LoadBalancingConfig]? {
    let member = "loadBalancingPolicy"
    guard let name = try string(member) else { return nil }
    var policy = LoadBalancingConfig(name.lowercased())
    policy.path = path(member)
    return [policy]
  }

  /// Clients that know only the older form may need it for a policy that is one of the newer form's, too.
  fileprivate func doubtsOfOlderPolicy(
    beside policies: [LoadBalancingConfig]
  ) throws(GRPCStatus) -> [ConfigFinding] {
    guard let older = try olderPolicy()?.first, try self.policies("loadBalancingConfig") != nil,
      !policies.contains(where: { $0.policy == older.policy })
    else { return [] }
    let reason = "has no effect beside loadBalancingConfig, which names other policies"
    return [.doubt(path("loadBalancingPolicy"), reason)]
  }

  /// The service whose health is checked.
  fileprivate func healthCheckedService() throws(GRPCStatus) -> String? {
    guard let health = try object("healthCheckConfig") else { return nil }
    let service = try health.string("serviceName")
    if service == nil {
      health.note([
        .doubt("serviceName", "is missing, so no health is checked; \"\" is the server's as a whole")
      ])
    }
    return service
  }
}

extension MethodConfig {
  init(_ reader: ConfigReader) throws(GRPCStatus) {
    var names: [Name] = []
    for name in try reader.objects("name") ?? [] { names.append(try Name(name)) }
    self.init(names: names, timeout: try reader.duration("timeout"))
    waitForReady = try reader.bool("waitForReady")
    maxRequestMessageBytes = try reader.count("maxRequestMessageBytes")
    maxResponseMessageBytes = try reader.count("maxResponseMessageBytes")
    let retry = try reader.object("retryPolicy")
    let hedging = try reader.object("hedgingPolicy")
    switch (retry, hedging) {
    case (nil, nil): break
    case (let retry?, nil): repetition = .retry(try RetryPolicy(retry))
    case (_, let hedging?):
      if retry != nil { try reader.refuse("retryPolicy", "there is a hedgingPolicy too") }
      repetition = .hedge(try HedgingPolicy(hedging))
    }
    reader.note(doubts)
  }
}

extension MethodConfig.Name {
  init(_ reader: ConfigReader) throws(GRPCStatus) {
    self = try reader.making { () throws(GRPCStatus) in
      (try reader.string("service") ?? "", try reader.string("method") ?? "")
    } _: { (service, method) throws(GRPCStatus) in
      try MethodConfig.Name(service: service, method: method)
    }
    reader.note(doubts)
  }
}

extension RetryPolicy {
  init(_ reader: ConfigReader) throws(GRPCStatus) {
    self = try reader.making { () throws(GRPCStatus) in
      (
        attempts: try reader.required("maxAttempts", try reader.count("maxAttempts")),
        initial: try reader.required("initialBackoff", try reader.duration("initialBackoff")),
        longest: try reader.required("maxBackoff", try reader.duration("maxBackoff")),
        factor: try reader.required("backoffMultiplier", try reader.number("backoffMultiplier")),
        codes: try reader.codes("retryableStatusCodes")
      )
    } _: { parts throws(GRPCStatus) in
      try RetryPolicy(
        maxAttempts: parts.attempts,
        initialBackoff: parts.initial,
        maxBackoff: parts.longest,
        backoffMultiplier: parts.factor,
        retryableStatusCodes: parts.codes
      )
    }
    reader.hint(ConfigFinding.hints(ofCodes: retryableStatusCodes, "retryableStatusCodes"))
  }
}

extension HedgingPolicy {
  init(_ reader: ConfigReader) throws(GRPCStatus) {
    self = try reader.making { () throws(GRPCStatus) in
      (
        attempts: try reader.required("maxAttempts", try reader.count("maxAttempts")),
        delay: try reader.duration("hedgingDelay") ?? .zero,
        codes: try reader.codes("nonFatalStatusCodes")
      )
    } _: { parts throws(GRPCStatus) in
      try HedgingPolicy(
        maxAttempts: parts.attempts,
        hedgingDelay: parts.delay,
        nonFatalStatusCodes: parts.codes
      )
    }
    reader.hint(ConfigFinding.hints(ofCodes: nonFatalStatusCodes, "nonFatalStatusCodes"))
    guard !reader.has("hedgingDelay") else { return }
    reader.hint([.hint("hedgingDelay", "is missing: all \(attempts) attempts are made at once")])
  }
}

extension RetryThrottling {
  init(_ reader: ConfigReader) throws(GRPCStatus) {
    self = try reader.making { () throws(GRPCStatus) in
      (
        tokens: try reader.required("maxTokens", try reader.count("maxTokens")),
        ratio: try reader.required("tokenRatio", try reader.number("tokenRatio"))
      )
    } _: { parts throws(GRPCStatus) in
      try RetryThrottling(maxTokens: parts.tokens, tokenRatio: parts.ratio)
    }
    guard tokenRatio > Double(maxTokens), !reader.hasMistake(in: "maxTokens") else { return }
    reader.hint([.doubt("tokenRatio", "is above maxTokens: one success undoes all failures before it")])
  }
}
