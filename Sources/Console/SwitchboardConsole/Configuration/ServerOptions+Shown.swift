import SwitchboardCall
import SwitchboardTransport

extension ServerOptions {
  /// What is shown of them.
  static let shown = ShownOptions<ServerOptions>(limits + times + parts)

  private static let limits: [ShownOption<ServerOptions>] = [
    ShownOption("maxRequestSize", bytes: \.maxRequestSize),
    ShownOption("maxConcurrentStreams", \.maxConcurrentStreams),
    ShownOption("maxMetadataSize", bytes: \.maxMetadataSize),
    ShownOption("streamBufferSize", bytes: \.streamBufferSize),
    ShownOption("streamLookahead", bytes: \.streamLookahead),
    ShownOption("connectionWindow", bytes: \.connectionWindow),
    ShownOption("maxWindow", bytes: \.maxWindow),
    ShownOption("connectionBufferSize", bytes: \.connectionBufferSize),
    ShownOption("maxConnections", \.maxConnections),
    ShownOption("maxAbandonedHandlers", \.maxAbandonedHandlers),
    ShownOption("controlFrameAllowance", \.controlFrameAllowance),
  ]

  private static let times: [ShownOption<ServerOptions>] = [
    ShownOption("maxConnectionIdle", \.maxConnectionIdle),
    ShownOption("maxConnectionAge", \.maxConnectionAge),
    ShownOption("connectionAgeGrace", \.connectionAgeGrace),
    ShownOption("keepaliveInterval", \.keepaliveInterval),
    ShownOption("keepaliveTimeout", \.keepaliveTimeout),
    ShownOption("minimumPingInterval", \.minimumPingInterval),
    ShownOption("requestTimeout", \.requestTimeout),
    ShownOption("handshakeTimeout", \.handshakeTimeout),
    ShownOption("blockedLoopLimit", \.blockedLoopLimit),
    ShownOption("lowLatency", \.lowLatency),
    ShownOption("reusePort", \.reusePort),
    ShownOption("makesRoomForConnections", \.makesRoomForConnections),
  ]

  private static let parts: [ShownOption<ServerOptions>] = [
    ShownOption("tls", \.tls),
    ShownOption("web", \.web),
    // A path may be known only to some.
    ShownOption("pages") { $0.pages.count.shown },
    ShownOption("hosts") { $0.hosts == nil ? "any name" : "names are checked" },
    ShownOption("dialects") { $0.dialects.count.shown },
    ShownOption("handlerPlacements", \.handlerPlacements),
    ShownOption("payloadFormats") { TypeName.list($0.payloadFormats) },
    ShownOption("interceptorFactories") { TypeName.list($0.interceptorFactories) },
    ShownOption("interceptorRegistry") { $0.interceptorRegistry == nil ? "none" : "shared" },
    ShownOption("requiredInterceptors") { options in
      let types = options.requiredInterceptors.types
      return types.isEmpty ? "none" : types.map { "\($0)" }.listed
    },
    ShownOption("logger", \.logger),
    ShownOption("sendsErrorDescriptions", \.sendsErrorDescriptions),
    ShownOption("observer") { TypeName.of($0.observer) },
    ShownOption("loadRecorder") { TypeName.of($0.loadRecorder) },
  ]
}

extension WebOptions: ShownValue {
  var shown: String {
    let origins =
      switch origins {
      case .any: "pages of any origin"
      case .only(let names): names.isEmpty ? "no pages of browsers" : "pages of \(names.sorted().listed)"
      }
    var parts = [origins, "answers to preflights are kept for \(maxAge.shown)"]
    if let allowedHeaders { parts.append("metadata: \(allowedHeaders.listed)") }
    if !exposedHeaders.isEmpty { parts.append("shown headers: \(exposedHeaders.listed)") }
    if allowsCredentials { parts.append("with cookies") }
    if detailJSON != nil { parts.append("details as JSON") }
    parts.append("idle HTTP/1.1 connections stay for \(idleTimeout.shown)")
    return parts.joined(separator: "; ")
  }
}

extension HandlerPlacements: ShownValue {
  var shown: String {
    let others = names.map { "\(Self.shown(self[$0] ?? standard)): \($0)" }
    return ([Self.shown(standard)] + others).listed
  }

  private static func shown(_ placement: HandlerPlacement) -> String {
    switch placement {
    case .loop: "on loops"
    case .threads: "on threads"
    case .executor(let executor): "on \(TypeName(executor))"
    }
  }
}
