// What is allowed in a service config, and hardly meant.

extension MethodConfig {
  /// What is doubtful, apart from the names, by the paths below the method config.
  package var doubts: [ConfigFinding] {
    var doubts: [ConfigFinding] = []
    if names.isEmpty { doubts.append(.doubt("name", "is missing or empty, so this is for no method")) }
    if timeout == .zero {
      doubts.append(.doubt("timeout", "is zero: calls of these methods would fail at once"))
    }
    if maxRequestMessageBytes == 0 {
      doubts.append(.doubt("maxRequestMessageBytes", "is zero: only empty requests can be sent"))
    }
    if maxResponseMessageBytes == 0 {
      doubts.append(.doubt("maxResponseMessageBytes", "is zero: only empty responses can be received"))
    }
    return doubts + (repetition?.doubts(within: timeout) ?? [])
  }

  /// Whether it says nothing about its methods.
  fileprivate var isWithoutSettings: Bool { self == MethodConfig(names: names) }

  /// The same, and what is doubtful in the names.
  fileprivate var allDoubts: [ConfigFinding] {
    doubts
      + names.enumerated().flatMap { position, name in name.doubts.map { $0.below("name[\(position)]") } }
  }
}

extension MethodConfig.Name {
  package var doubts: [ConfigFinding] {
    [("service", service, "."), ("method", method, "")].compactMap { member, name, extra in
      if name.utf8.contains(UInt8(ascii: "/")) {
        return .doubt(member, "has a slash, so it names nothing: 'service' and 'method' are two members")
      }
      guard !name.utf8.allSatisfy({ Self.isOfName($0) || extra.utf8.contains($0) }) else { return nil }
      return .doubt(
        member,
        "is no name, so it names nothing: without 'method', all methods of the service are meant, and {} stands for all services"
      )
    }
  }

  // Servers that take no .proto may name methods as they like.
  private static func isOfName(_ byte: UInt8) -> Bool {
    byte.isLetter || byte.isDigit || byte == UInt8(ascii: "_") || byte >= 0x80
  }
}

extension MethodConfig.Repetition {
  fileprivate func doubts(within timeout: Duration?) -> [ConfigFinding] {
    switch self {
    case .retry(let policy):
      Self.doubts(ofAttempts: policy.maxAttempts, in: "retryPolicy") + policy.doubts(within: timeout)
    case .hedge(let policy):
      Self.doubts(ofAttempts: policy.maxAttempts, in: "hedgingPolicy") + policy.doubts(within: timeout)
    }
  }

  private static func doubts(ofAttempts count: Int, in policy: String) -> [ConfigFinding] {
    guard count > RetryPolicy.attemptLimit else { return [] }
    return [
      .doubt(
        "\(policy).maxAttempts",
        "is \(count): no more than \(RetryPolicy.attemptLimit) attempts are made"
      )
    ]
  }
}

extension RetryPolicy {
  fileprivate func doubts(within timeout: Duration?) -> [ConfigFinding] {
    var doubts: [ConfigFinding] = []
    if maxBackoff < initialBackoff {
      doubts.append(
        .doubt(
          "retryPolicy.maxBackoff",
          "is \(maxBackoff), below initialBackoff: no wait is longer than this"
        )
      )
    }
    // No wait is longer than maxBackoff.
    let limit = timeout.flatMap { maxBackoff < $0 ? nil : $0 }
    return doubts + ConfigFinding.doubts(ofWait: initialBackoff, "retryPolicy.initialBackoff", within: limit)
  }
}

extension HedgingPolicy {
  fileprivate func doubts(within timeout: Duration?) -> [ConfigFinding] {
    ConfigFinding.doubts(ofWait: hedgingDelay, "hedgingPolicy.hedgingDelay", within: timeout)
  }
}

extension ServiceConfig {
  /// What is doubtful in a config that was not read from JSON, in words.
  var doubts: [String] {
    let ofMethods = methodConfigs.enumerated().lazy.flatMap { position, config in
      config.allDoubts.map { $0.below("methodConfig[\(position)]") }
    }
    return (ofMethods.prefix(ConfigFinding.mostReported) + doubtsOfParts)
      .prefix(ConfigFinding.mostReported).map(\.description)
  }

  /// What is doubtful in parts that would be right beside others.
  package var doubtsOfParts: [ConfigFinding] {
    var doubts = methodConfigs.indices.filter { hasNoEffect(at: $0) }.map {
      ConfigFinding.doubt("methodConfig[\($0)]", "has names, and nothing that would be for them")
    }
    if retryThrottling != nil, !methodConfigs.contains(where: { $0.repetition != nil }) {
      doubts.append(
        .doubt("retryThrottling", "has no effect: no methodConfig has a retryPolicy or a hedgingPolicy")
      )
    }
    if let maxTokens = retryThrottling?.maxTokens, maxTokens <= 2 {
      doubts.append(
        .doubt(
          "retryThrottling.maxTokens",
          "is \(maxTokens): no call is made again after the first failure; 3 is the least"
        )
      )
    }
    return doubts
  }

  /// Whether a method config without settings does not even keep its methods from those of a more general one.
  private func hasNoEffect(at position: Int) -> Bool {
    let config = methodConfigs[position]
    return config.isWithoutSettings && !config.names.isEmpty
      && !config.names.contains { hasConfig(moreGeneralThan: $0, at: position) }
  }

  /// What has no effect in the config of a call whose client was given a channel, in words: it is about the channel.
  var doubtsInCall: [String] {
    var members = loadBalancing.isEmpty ? [] : ["loadBalancingConfig"]
    if healthCheckedService != nil { members.append("healthCheckConfig") }
    return members.map {
      """
      \($0): has no effect in a call, because it is about the channel. Set it in ChannelOptions.serviceConfig, or make the \
      client with host: instead of channel:
      """
    }
  }
}

extension ConfigFinding {
  /// A finding about what has a name but is no mistake of spelling.
  package static func doubt(_ path: String, _ reason: String) -> ConfigFinding {
    ConfigFinding(path: path, name: path, reason: reason)
  }

  /// That codes which depend on the request, and not on the server that got it, lead to another attempt. Some services mean
  /// it: of a write that other servers do not see yet.
  package static func hints(ofCodes codes: Set<GRPCStatus.Code>, _ member: String) -> [ConfigFinding] {
    let lasting = lastingCodes.filter(codes.contains).map(\.specName)
    guard !lasting.isEmpty else { return [] }
    let reason =
      "contains \(lasting.joined(separator: ", ")): other attempts are likely to end in the same way"
    return [.hint(member, reason)]
  }

  private static let lastingCodes: [GRPCStatus.Code] = [
    .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition, .outOfRange,
    .unimplemented, .unauthenticated,
  ]

  /// That no second attempt follows after a wait, because the call has ended by then.
  fileprivate static func doubts(
    ofWait wait: Duration,
    _ member: String,
    within timeout: Duration?
  ) -> [ConfigFinding] {
    guard let timeout, timeout > .zero, wait >= timeout else { return [] }
    let reason = "is \(wait), and the timeout is \(timeout): it ends the call before a second attempt"
    return [.doubt(member, reason)]
  }

  fileprivate func below(_ location: String) -> ConfigFinding {
    var finding = self
    finding.path = "\(location).\(path)"
    return finding
  }
}
