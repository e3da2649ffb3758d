import SwitchboardBalancing
import SwitchboardCall
import SwitchboardTransport

extension ChannelOptions {
  /// What is shown of them.
  static let shown = ShownOptions<ChannelOptions>(limits + times + parts)

  private static let limits: [ShownOption<ChannelOptions>] = [
    ShownOption("responseSizeLimit", bytes: \.responseSizeLimit),
    ShownOption("maxMetadataSize", bytes: \.maxMetadataSize),
    ShownOption("streamLookahead", bytes: \.streamLookahead),
    ShownOption("connectionWindow", bytes: \.connectionWindow),
    ShownOption("maxWindow", bytes: \.maxWindow),
    ShownOption("connectionBufferSize", bytes: \.connectionBufferSize),
    ShownOption("streamBufferSize", bytes: \.streamBufferSize),
    ShownOption("retryBufferSize", bytes: \.retryBufferSize),
    ShownOption("hpackTableSizeEncoder", \.hpackTableSizeEncoder),
    ShownOption("hpackTableSizeDecoder", \.hpackTableSizeDecoder),
    ShownOption("maxConcurrentStreams", \.maxConcurrentStreams),
    ShownOption("maxConnections", \.maxConnections),
    ShownOption("maxHTTP1Connections", \.maxHTTP1Connections),
    ShownOption("maxWaitingCalls", \.maxWaitingCalls),
    ShownOption("controlFrameAllowance", \.controlFrameAllowance),
  ]

  private static let times: [ShownOption<ChannelOptions>] = [
    ShownOption("connectInitialBackoff", \.connectInitialBackoff),
    ShownOption("connectMaxBackoff", \.connectMaxBackoff),
    ShownOption("connectMinTimeout", \.connectMinTimeout),
    ShownOption("keepaliveInterval", \.keepaliveInterval),
    ShownOption("keepaliveTimeout", \.keepaliveTimeout),
    ShownOption("keepaliveWithoutCalls", \.keepaliveWithoutCalls),
    ShownOption("idleTimeout", \.idleTimeout),
    ShownOption("blockedLoopLimit", \.blockedLoopLimit),
    ShownOption("lowLatency", \.lowLatency),
  ]

  private static let parts: [ShownOption<ChannelOptions>] = [
    ShownOption("enableRetry", \.enableRetry),
    ShownOption("waitForReady", \.waitForReady),
    ShownOption("wireProtocol", \.wireProtocol),
    ShownOption("httpVersion", \.httpVersion),
    ShownOption("connectGet", \.connectGet),
    ShownOption("security", \.security),
    ShownOption("proxy", \.proxy),
    // Both are sent to every server, and HTTP allows no user in an authority.
    ShownOption("authority") { $0.authority ?? "that of the target" },
    ShownOption("userAgentPrefix") { $0.userAgentPrefix.isEmpty ? "none" : $0.userAgentPrefix },
    ShownOption("serviceConfig") { $0.serviceConfig == nil ? "none" : "set: see below" },
    ShownOption("resolvers") { TypeName.list($0.resolvers) },
    ShownOption("loadBalancingPolicies") { TypeName.list($0.loadBalancingPolicies) },
    ShownOption("looksUpServiceConfig", \.looksUpServiceConfig),
    ShownOption("resolutionPace", \.resolutionPace),
    ShownOption("interceptorFactories") { TypeName.list($0.interceptorFactories) },
    ShownOption("interceptorRegistry") { $0.interceptorRegistry == nil ? "none" : "shared" },
    ShownOption("logger", \.logger),
    ShownOption("observer") { TypeName.of($0.observer) },
  ]
}

extension ResolutionPace: ShownValue {
  var shown: String {
    "names at most every \(shortestInterval.shown); after failures \(initialBackoff.shown) to \(maxBackoff.shown)"
  }
}
