/// What a service's owner configures for its callers, per method: gRPC's service config, as typed values.
///
/// Make one of its JSON with `ServiceConfig(json:)`. It is validated as it is made, so that a call never meets a
/// config that contradicts itself.
public struct ServiceConfig: Hashable, Sendable {
  /// What is configured for which methods.
  public let methodConfigs: [MethodConfig]
  /// When retries of all methods together are too many.
  public let retryThrottling: RetryThrottling?

  /// Positions in `methodConfigs`, by `/service/method`, `/service/` and `//`.
  private let positions: [String: Int]

  /// Throws `INVALID_ARGUMENT` where two configs are for the same method.
  public init(methodConfigs: [MethodConfig] = [], retryThrottling: RetryThrottling? = nil) throws(GRPCStatus)
  {
    self.methodConfigs = methodConfigs
    self.retryThrottling = retryThrottling
    var positions: [String: Int] = [:]
    for (position, config) in methodConfigs.enumerated() {
      for name in config.names where positions.updateValue(position, forKey: name.key) != nil {
        throw .invalidServiceConfig("two method configs are for \(name)")
      }
    }
    self.positions = positions
  }

  /// The config for a method: the one that names it, or its service, or everything.
  package func methodConfig(for method: MethodDescriptor) -> MethodConfig? {
    let position = positions[method.path] ?? positions["/\(method.service)/"] ?? positions["//"]
    return position.map { methodConfigs[$0] }
  }
}

/// What is configured for some methods.
public struct MethodConfig: Hashable, Sendable {
  /// One method, all of a service, or all there are.
  public struct Name: Hashable, Sendable, CustomStringConvertible {
    /// The full name of the service; empty for all of them.
    public let service: String
    /// The name within the service; empty for all of them.
    public let method: String

    /// Throws `INVALID_ARGUMENT` for a method without its service.
    public init(service: String = "", method: String = "") throws(GRPCStatus) {
      guard method.isEmpty || !service.isEmpty else {
        throw .invalidServiceConfig("the method \(method) is named without its service")
      }
      self.service = service
      self.method = method
    }

    public var description: String {
      if service.isEmpty { return "all methods" }
      return method.isEmpty ? "all methods of \(service)" : "\(service)/\(method)"
    }

    /// The path of the method, as far as it is named.
    var key: String { "/\(service)/\(method)" }
  }

  /// How a call is made again.
  public enum Repetition: Hashable, Sendable {
    /// After it has failed.
    case retry(RetryPolicy)
    /// Before it is known whether it fails.
    case hedge(HedgingPolicy)
  }

  /// Which methods it is for.
  public var names: [Name]
  /// The longest that calls may take; a call's own timeout counts where it is shorter.
  public var timeout: Duration?
  /// For calls that do not choose themselves.
  public var waitForReady: Bool?
  /// Whether and how calls are made again.
  public var repetition: Repetition?
  /// The largest request message that is sent.
  public var maxRequestMessageBytes: Int?
  /// The largest response message that is accepted; a call's own limit counts where it is smaller.
  public var maxResponseMessageBytes: Int?

  /// Nothing is configured but what is given.
  public init(names: [Name], timeout: Duration? = nil, repetition: Repetition? = nil) {
    self.names = names
    self.timeout = timeout
    self.repetition = repetition
  }
}

extension GRPCStatus {
  /// A service config, or a part of one, that contradicts itself.
  package static func invalidServiceConfig(_ reason: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: "service config: \(reason)")
  }
}
