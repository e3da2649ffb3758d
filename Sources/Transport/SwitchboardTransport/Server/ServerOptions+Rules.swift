import SwitchboardCall

extension ServerOptions: RuledOptions {
  package static let rules: [OptionRule<ServerOptions>] = [
    OptionRule(\.maxRequestSize, "maxRequestSize", .atLeast(1), because: MessageLimit.nothingFits),
    OptionRule(\.maxConcurrentStreams, "maxConcurrentStreams", .atLeast(1), because: "a call needs a stream"),
    OptionRule(
      \.maxMetadataSize,
      "maxMetadataSize",
      .atLeast(ChannelOptions.leastMetadataSize),
      because: "the headers of a plain call need room"
    ),
    OptionRule(\.streamBufferSize, "streamBufferSize", .atLeast(1), because: ChannelOptions.nothingArrives),
    OptionRule(\.streamLookahead, "streamLookahead", .atLeast(1), because: ChannelOptions.nothingArrives),
    OptionRule(\.connectionWindow, "connectionWindow", .atLeast(1), because: ChannelOptions.nothingArrives),
    OptionRule(\.maxWindow, "maxWindow", .atLeast(0)),
    OptionRule(
      \.connectionBufferSize,
      "connectionBufferSize",
      .atLeast(1),
      because: ChannelOptions.nothingArrives
    ),
    OptionRule(\.maxConnections, "maxConnections", .atLeast(1), because: ChannelOptions.needsConnection),
    OptionRule(
      \.maxAbandonedHandlers,
      "maxAbandonedHandlers",
      .atLeast(1),
      because: "without any, all calls would be refused"
    ),
    OptionRule(
      \.controlFrameAllowance,
      "controlFrameAllowance",
      .atLeast(ChannelOptions.leastAllowance),
      because: ChannelOptions.beginsWithFrames
    ),
    OptionRule(
      \.keepaliveInterval,
      "keepaliveInterval",
      .above(.zero),
      because: "pings need a pause between them"
    ),
    OptionRule(\.keepaliveTimeout, "keepaliveTimeout", .above(.zero), because: takesTime),
    OptionRule(\.handshakeTimeout, "handshakeTimeout", .above(.zero), because: takesTime),
    OptionRule(
      \.maxConnectionIdle,
      "maxConnectionIdle",
      .above(.zero),
      because: "a connection begins without calls"
    ),
    OptionRule(
      \.maxConnectionAge,
      "maxConnectionAge",
      .above(.zero),
      because: "calls need some time on a connection"
    ),
    OptionRule(\.requestTimeout, "requestTimeout", .above(.zero), because: takesTime),
    OptionRule(\.blockedLoopLimit, "blockedLoopLimit", .above(.zero), because: "every handler takes time"),
    OptionRule(\.connectionAgeGrace, "connectionAgeGrace", .atLeast(.zero)),
    OptionRule(\.minimumPingInterval, "minimumPingInterval", .atLeast(.zero)),
  ]

  private static let takesTime = "an answer takes time"

  /// The options, once none of them would make all calls fail. Sizes and counts are what HTTP/2 can express, and can be
  /// doubled without overflow: a user may set the largest integer to mean no limit.
  func checked() throws(GRPCStatus) -> ServerOptions {
    try checkRules()
    try web?.checkRules()
    var options = self
    for size in [
      \ServerOptions.maxConcurrentStreams, \.maxMetadataSize, \.streamLookahead, \.connectionWindow,
      \.maxWindow,
    ] {
      options[keyPath: size] = min(options[keyPath: size], Int(Int32.max))
    }
    return options
  }
}

// Options that have no effect. Several servers may share options, so the log says so, and the server is made.
extension ServerOptions {
  func remarks(on providers: [any CallHandlerProvider]) -> [OptionRemark] {
    var remarks: [OptionRemark] = []
    let hasAge = maxConnectionAge != nil || maxConnectionIdle != nil
    if connectionAgeGrace != ServerOptions().connectionAgeGrace, !hasAge {
      let reason = "has no effect, because neither maxConnectionAge nor maxConnectionIdle is set"
      remarks.append(OptionRemark("connectionAgeGrace", reason))
    }
    if providers.isEmpty, pages.isEmpty, dialects.isEmpty {
      let reason = "the server has no providers, and answers every call with UNIMPLEMENTED"
      remarks.append(OptionRemark(of: "", reason))
    }
    return remarks
  }
}
