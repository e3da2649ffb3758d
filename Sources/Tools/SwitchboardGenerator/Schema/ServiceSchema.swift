import SwitchboardHTTPRules

/// A service with its Swift name, whose methods are linked to their messages.
struct ServiceSchema {
  let name: String
  let fullName: String
  /// The path of the service in the file's descriptor.
  let path: [Int32]
  let isDeprecated: Bool
  /// The prefix of its Swift types.
  let swiftName: String
  let methods: [MethodSchema]

  /// The suffixes that are appended to `swiftName` for its types.
  static let typeSuffixes = [
    "Metadata", "Client", "ClientProtocol", "ClientInterceptorFactoryProtocol", "ClientInterceptors",
    "Provider",
    "ServerInterceptorFactoryProtocol", "ServerInterceptors", "TestClient",
  ]
}

/// A method of a service.
struct MethodSchema {
  /// The number of messages in each direction; the raw value is the name in the runtime.
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

  /// What calling the method twice does, if its options say; the name is that in the runtime.
  enum Idempotency: String {
    case noSideEffects
    case idempotent

    init?(level: Int32) {
      switch level {
      case 1: self = .noSideEffects
      case 2: self = .idempotent
      default: return nil
      }
    }
  }

  let name: String
  let path: [Int32]
  let isDeprecated: Bool
  let kind: Kind
  let idempotency: Idempotency?
  /// How the method is called over HTTP, as it is written.
  let rule: RuleText
  /// The messages, as indices.
  let request: Int
  let response: Int

  /// The name of the client's methods that make call objects. As in grpc-swift, it is the same whether the method's begins
  /// with a capital letter or not.
  var makeCall: String { "make\(name.capitalized)Call" }
}

extension ServiceSchema {
  /// Throws if two methods, of a service in this file, would have the same composed names.
  func checkMethodNames(in file: String) throws(GeneratorError) {
    var others: [String: String] = [:]
    for method in methods {
      guard let other = others.updateValue(method.name, forKey: method.makeCall) else { continue }
      throw GeneratorError(
        "\(file): the methods \(other) and \(method.name) of \(fullName) differ only in their first letter's case, so that "
          + "both would be called by \(method.makeCall): rename one"
      )
    }
  }
}
