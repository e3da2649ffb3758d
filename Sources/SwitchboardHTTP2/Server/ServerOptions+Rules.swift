import SwitchboardCall

/// What the options of a server may be.
extension ServerOptions {
  /// The options, once none of them would make all calls fail. Sizes and counts are what HTTP/2 can express, and can be
  /// doubled without overflow: a user may set the largest integer to mean no limit.
  func checked() throws(GRPCStatus) -> ServerOptions {
    try Self.check("maxRequestSize", maxRequestSize, atLeast: 0)
    try Self.check("maxConcurrentStreams", maxConcurrentStreams)
    try Self.check("maxMetadataSize", maxMetadataSize)
    try Self.check("streamBufferSize", streamBufferSize)
    try Self.check("streamLookahead", streamLookahead)
    try Self.check("connectionWindow", connectionWindow)
    try Self.check("maxWindow", maxWindow, atLeast: 0)
    try Self.check("connectionBufferSize", connectionBufferSize)
    try Self.check("maxConnections", maxConnections)
    try Self.check("controlFrameAllowance", controlFrameAllowance)
    try Self.check("keepaliveInterval", keepaliveInterval)
    try Self.check("keepaliveTimeout", keepaliveTimeout)
    try Self.check("handshakeTimeout", handshakeTimeout)
    try Self.check("maxConnectionIdle", maxConnectionIdle, orNil: true)
    try Self.check("maxConnectionAge", maxConnectionAge, orNil: true)
    try Self.check("requestTimeout", requestTimeout, orNil: true)
    try Self.check("connectionAgeGrace", connectionAgeGrace, orZero: true)
    try Self.check("minimumPingInterval", minimumPingInterval, orZero: true)
    var options = self
    for size in [
      \ServerOptions.maxConcurrentStreams, \.maxMetadataSize, \.streamLookahead, \.connectionWindow,
      \.maxWindow,
    ] {
      options[keyPath: size] = min(options[keyPath: size], Int(Int32.max))
    }
    return options
  }

  private static func check(_ name: String, _ count: Int, atLeast least: Int = 1) throws(GRPCStatus) {
    guard count < least else { return }
    throw .invalidOption("\(name) is \(count): it must be at least \(least)")
  }

  private static func check(
    _ name: String,
    _ time: Duration?,
    orZero: Bool = false,
    orNil: Bool = false
  ) throws(GRPCStatus) {
    guard let time, time <= .zero, !(orZero && time == .zero) else { return }
    let rule = orZero ? "not be negative" : "be more than zero"
    throw .invalidOption("\(name) is \(time): it must \(rule)\(orNil ? ", or nil for no limit" : "")")
  }
}
