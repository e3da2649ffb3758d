/// What a constant or a variable is given, where rules ask for it.
enum Origin: Sendable, CaseIterable {
  case channel
  /// A server whose address is kept by its name, or will be once its rule has been applied.
  case server
  case callOptions
  /// A client of grpc-swift 1 whose methods return call objects.
  case nioClient
  /// A request of grpc-swift 2, without and with metadata.
  case request, requestWithMetadata

  private var expressions: [String] {
    switch self {
    case .channel: ["GRPCChannelPool.with(", "ClientConnection", "Channel.connect(", "Channel("]
    case .server: ServerRules.bindings + ["Server(providers"]
    case .callOptions: ["CallOptions"]
    case .nioClient: ["*NIOClient("]
    case .request: ["ClientRequest(message: $message)"]
    case .requestWithMetadata: ["ClientRequest(message: $message, metadata: $metadata)"]
    }
  }

  private static let patterns: [(Pattern, Origin)] = allCases.flatMap { origin in
    origin.expressions.compactMap { text in Pattern(text).map { ($0, origin) } }
  }

  /// The origin of an expression that begins at a token; nil for all others.
  init?(of start: Int, in source: SwiftSource) {
    let found = Self.patterns.first { pattern, _ in
      PatternMatch(pattern, in: source, at: start) != nil
    }
    guard let found else { return nil }
    self = found.1
  }
}
