/// A service, named and with its methods linked to their messages.
struct ServiceSchema {
  let name: String
  let fullName: String
  /// The way to the service in the file's descriptor.
  let path: [Int32]
  let isDeprecated: Bool
  /// What the names of its Swift types begin with.
  let swiftName: String
  let methods: [MethodSchema]

  /// What is appended to `swiftName` for each of its types.
  static let typeSuffixes = [
    "Metadata", "Client", "ClientProtocol", "ClientInterceptorFactoryProtocol", "Provider",
    "ServerInterceptorFactoryProtocol", "TestClient",
  ]
}

/// A method of a service.
struct MethodSchema {
  /// How many messages either side sends; the raw value is the name in the runtime.
  enum Kind: String {
    case unary
    case clientStreaming
    case serverStreaming
    case bidirectionalStreaming

    init(streamsRequests: Bool, streamsResponses: Bool) {
      self =
        switch (streamsRequests, streamsResponses) {
        case (false, false): .unary
        case (true, false): .clientStreaming
        case (false, true): .serverStreaming
        case (true, true): .bidirectionalStreaming
        }
    }

    var streamsRequests: Bool { self == .clientStreaming || self == .bidirectionalStreaming }
    var streamsResponses: Bool { self == .serverStreaming || self == .bidirectionalStreaming }
  }

  let name: String
  let path: [Int32]
  let isDeprecated: Bool
  let kind: Kind
  /// The messages, by their indexes.
  let request: Int
  let response: Int
}
