import SwitchboardCall

/// What the options of a server may be.
extension ServerOptions {
  private typealias Key<Value> = KeyPath<ServerOptions, Value> & Sendable

  private static let least: [(name: String, option: Key<Int>, least: Int)] = [
    ("maxRequestSize", \.maxRequestSize, 0), ("maxConcurrentStreams", \.maxConcurrentStreams, 1),
    ("maxMetadataSize", \.maxMetadataSize, 1), ("streamBufferSize", \.streamBufferSize, 1),
    ("streamLookahead", \.streamLookahead, 1), ("connectionWindow", \.connectionWindow, 1),
    ("maxWindow", \.maxWindow, 0), ("connectionBufferSize", \.connectionBufferSize, 1),
    ("maxConnections", \.maxConnections, 1), ("controlFrameAllowance", \.controlFrameAllowance, 1),
  ]

  private static let times: [(name: String, option: Key<Duration>)] = [
    ("keepaliveInterval", \.keepaliveInterval), ("keepaliveTimeout", \.keepaliveTimeout),
    ("handshakeTimeout", \.handshakeTimeout),
  ]

  private static let timesIfAny: [(name: String, option: Key<Duration?>)] = [
    ("maxConnectionIdle", \.maxConnectionIdle), ("maxConnectionAge", \.maxConnectionAge),
    ("requestTimeout", \.requestTimeout),
  ]

  private static let timesOrZero: [(name: String, option: Key<Duration>)] = [
    ("connectionAgeGrace", \.connectionAgeGrace), ("minimumPingInterval", \.minimumPingInterval),
  ]

  /// The options, once none of them would make all calls fail. Sizes and counts are what HTTP/2 can express, and can be
  /// doubled without overflow: a user may set the largest integer to mean no limit.
  func checked() throws(GRPCStatus) -> ServerOptions {
    for (name, option, least) in Self.least where self[keyPath: option] < least {
      throw .invalidOption("\(name) is \(self[keyPath: option]): it must be at least \(least)")
    }
    for (name, option) in Self.times where self[keyPath: option] <= .zero {
      throw .invalidOption("\(name) is \(self[keyPath: option]): it must be more than zero")
    }
    for (name, option) in Self.timesIfAny {
      guard let time = self[keyPath: option], time <= .zero else { continue }
      throw .invalidOption("\(name) is \(time): it must be more than zero, or nil for no limit")
    }
    for (name, option) in Self.timesOrZero where self[keyPath: option] < .zero {
      throw .invalidOption("\(name) is \(self[keyPath: option]): it must not be negative")
    }
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
