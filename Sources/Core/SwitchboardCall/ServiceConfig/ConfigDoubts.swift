// What is allowed in a service config, and hardly meant.

extension MethodConfig {
  /// What is doubtful, apart from the names, by the paths below the method config.
  package var doubts: [ConfigFinding] {
    var doubts: [ConfigFinding] = []
    if names.isEmpty { doubts.append(.doubt("name", "is missing or empty, so this is for no method")) }
    if timeout == .zero {
      doubts.append(.doubt("timeout", "is zero: calls of these methods would fail at once"))
    }
    return doubts + (repetition?.doubts ?? [])
  }

  /// The same, and what is doubtful in the names.
  fileprivate var allDoubts: [ConfigFinding] {
    doubts
      + names.enumerated().flatMap { position, name in name.doubts.map { $0.below("name[\(position)]") } }
  }
}

extension MethodConfig.Name {
  package var doubts: [ConfigFinding] {
    [("service", service), ("method", method)].filter { $0.1.utf8.contains(UInt8(ascii: "/")) }.map {
      member,
      _ in
      .doubt(member, "has a slash, so it names nothing: 'service' and 'method' are two members")
    }
  }
}

extension MethodConfig.Repetition {
  fileprivate var doubts: [ConfigFinding] {
    let (policy, count) =
      switch self {
      case .retry(let policy): ("retryPolicy", policy.maxAttempts)
      case .hedge(let policy): ("hedgingPolicy", policy.maxAttempts)
      }
    guard count > RetryPolicy.attemptLimit else { return [] }
    return [
      .doubt(
        "\(policy).maxAttempts",
        "is \(count): no more than \(RetryPolicy.attemptLimit) attempts are made"
      )
    ]
  }
}

extension ServiceConfig {
  /// What is doubtful in method configs, in words.
  static func doubts(of configs: [MethodConfig]) -> [String] {
    configs.enumerated().lazy
      .flatMap { position, config in config.allDoubts.map { $0.below("methodConfig[\(position)]") } }
      .prefix(ConfigFinding.mostReported).map(\.description)
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
  fileprivate static func doubt(_ path: String, _ reason: String) -> ConfigFinding {
    ConfigFinding(path: path, name: path, reason: reason)
  }

  fileprivate func below(_ location: String) -> ConfigFinding {
    var finding = self
    finding.path = "\(location).\(path)"
    return finding
  }
}
