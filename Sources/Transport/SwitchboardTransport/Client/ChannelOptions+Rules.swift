import SwitchboardCall

extension ChannelOptions: RuledOptions {
  package static let rules: [OptionRule<ChannelOptions>] = [
    OptionRule(\.connectInitialBackoff, "connectInitialBackoff", .above(.zero), because: noPause),
    OptionRule(\.connectMaxBackoff, "connectMaxBackoff", .above(.zero), because: noPause),
    OptionRule(\.connectMinTimeout, "connectMinTimeout", .atLeast(.zero)),
    OptionRule(\.responseSizeLimit, "responseSizeLimit", .atLeast(1), because: MessageLimit.nothingFits),
    OptionRule(
      \.maxMetadataSize,
      "maxMetadataSize",
      .within(leastMetadataSize...largest),
      because: "the headers of a plain call need room, and HTTP/2 has no larger sizes"
    ),
    OptionRule(\.streamLookahead, "streamLookahead", .within(1...largest), because: nothingArrives),
    OptionRule(\.connectionWindow, "connectionWindow", .within(0...largest), because: noLargerSizes),
    OptionRule(\.maxWindow, "maxWindow", .atLeast(0)),
    OptionRule(\.connectionBufferSize, "connectionBufferSize", .atLeast(1), because: nothingArrives),
    OptionRule(\.streamBufferSize, "streamBufferSize", .atLeast(1), because: nothingArrives),
    OptionRule(
      \.hpackTableSizeEncoder,
      "hpackTableSizeEncoder",
      .within(0...largest),
      because: noLargerSizes
    ),
    OptionRule(
      \.hpackTableSizeDecoder,
      "hpackTableSizeDecoder",
      .within(0...largest),
      because: noLargerSizes
    ),
    OptionRule(\.maxConcurrentStreams, "maxConcurrentStreams", .atLeast(1), because: "a call needs a stream"),
    OptionRule(\.maxConnections, "maxConnections", .atLeast(1), because: needsConnection),
    OptionRule(\.maxHTTP1Connections, "maxHTTP1Connections", .atLeast(1), because: needsConnection),
    OptionRule(\.maxWaitingCalls, "maxWaitingCalls", .atLeast(1), because: "the first call waits"),
    OptionRule(\.retryBufferSize, "retryBufferSize", .atLeast(0)),
    OptionRule(\.keepaliveInterval, "keepaliveInterval", .above(.zero), because: "pings need a pause"),
    OptionRule(\.keepaliveTimeout, "keepaliveTimeout", .above(.zero), because: "an answer takes time"),
    OptionRule(
      \.controlFrameAllowance,
      "controlFrameAllowance",
      .atLeast(leastAllowance),
      because: beginsWithFrames
    ),
    OptionRule(\.idleTimeout, "idleTimeout", .above(.zero), because: "a channel is idle between two calls"),
    OptionRule(\.blockedLoopLimit, "blockedLoopLimit", .above(.zero), because: "every callback takes time"),
  ]

  /// The least limit for the headers of a call, which those of a plain one do not exceed.
  static let leastMetadataSize = 512

  /// The least allowance, which a connection that begins with a call does not use up.
  static let leastAllowance = 16

  static let nothingArrives = "nothing could arrive otherwise"
  static let beginsWithFrames = "every connection begins with such frames"
  static let needsConnection = "a call needs a connection"
  private static let noPause = "attempts need a pause between them"
  private static let noLargerSizes = "HTTP/2 has no other sizes"
  private static let largest = Int(Int32.max)

  /// Throws `INVALID_ARGUMENT` if options are out of range or contradict each other.
  package func validate() throws(GRPCStatus) {
    try checkRules()
    guard connectInitialBackoff <= connectMaxBackoff else {
      throw .invalidOption(
        "the initial backoff, \(connectInitialBackoff), is above the maximum, \(connectMaxBackoff)"
      )
    }
    if wireProtocol == .grpc, httpVersion == .http1 {
      throw .invalidOption("gRPC needs HTTP/2: choose another wireProtocol for HTTP/1.1")
    }
    try proxy.validate()
  }
}

extension PoolOptions: RuledOptions {
  package static let rules = [OptionRule(\PoolOptions.channelID, "channelID", .any)]
}
