import SwitchboardText

/// gRPC's service config: the settings that the owner of a service chooses for its callers, per method.
///
/// `ServiceConfig(json:)` reads it from JSON. A config is validated when it is created.
///
/// ```swift
/// let echo = try MethodConfig.Name(service: "echo.Echo")
/// let config = try ServiceConfig(methodConfigs: [
///   MethodConfig(names: [echo], timeout: .seconds(5), repetition: .retry(policy))
/// ])
/// ```
public struct ServiceConfig: Hashable, Sendable {
  /// The configurations of methods.
  package let methodConfigs: [MethodConfig]
  /// When retries of all methods are suspended.
  package let retryThrottling: RetryThrottling?
  /// The policies that may distribute calls over servers, preferred ones first. Empty means the channel's own policy.
  package let loadBalancing: [LoadBalancingConfig]
  /// The service whose health is checked on each server before it gets calls; the empty name stands for the server as a
  /// whole. `nil` means that health is not checked.
  package let healthCheckedService: String?

  /// What has no effect in the config, or is hardly meant, in words: a method config without names or, if it was read from
  /// JSON, a misspelled member.
  package var remarks: [String] = []

  /// Positions in `methodConfigs`, by `/service/method`, `/service/` and `//`.
  private let positions: [String: Int]

  /// Creates a config. Throws `INVALID_ARGUMENT` if two configurations are for the same method, or if a timeout or a
  /// limit is negative.
  public init(
    methodConfigs: [MethodConfig] = [],
    retryThrottling: RetryThrottling? = nil,
    loadBalancing: [LoadBalancingConfig] = [],
    healthCheckedService: String? = nil
  ) throws(GRPCStatus) {
    self.methodConfigs = methodConfigs
    self.retryThrottling = retryThrottling
    self.loadBalancing = loadBalancing
    self.healthCheckedService = healthCheckedService
    for config in methodConfigs { try config.checkRules() }
    let names = NamePlaces(methodConfigs)
    if let repeated = names.repeated.first { throw .invalidServiceConfig(repeated) }
    positions = names.byKey.mapValues(\.config)
    remarks = doubts
  }

  /// What is wrong with names that an earlier method config has too, or the same one before.
  package static func repeatedNames(in configs: [MethodConfig]) -> [ConfigFinding] {
    NamePlaces(configs).repeated
  }

  /// Where the names of method configs are.
  private struct NamePlaces {
    struct Place: CustomStringConvertible {
      let config: Int
      let name: Int

      var description: String { "methodConfig[\(config)].name[\(name)]" }
    }

    /// The first place of each name, by its key.
    private(set) var byKey: [String: Place] = [:]
    private(set) var repeated: [ConfigFinding] = []

    init(_ configs: [MethodConfig]) {
      for (position, config) in configs.enumerated() {
        for (index, name) in config.names.enumerated() { add(name, at: Place(config: position, name: index)) }
      }
    }

    private mutating func add(_ name: MethodConfig.Name, at place: Place) {
      guard let first = byKey[name.key] else {
        byKey[name.key] = place
        return
      }
      let reason = "two method configs are for \("\(name)".excerpt): this one and \(first)"
      repeated.append(ConfigFinding(path: "\(place)", reason: reason))
    }
  }

  /// The most specific configuration of a method: its own, that of its service, or that of all methods.
  package func methodConfig(for method: MethodDescriptor) -> MethodConfig? {
    let position = positions[method.path] ?? positions["/\(method.service)/"] ?? positions["//"]
    return position.map { methodConfigs[$0] }
  }

  /// A name of a configuration that has been meant for this method, and is another one: the name that Swift has for the service,
  /// one without its package, another case, service and method in one, or a misspelled method that is none of the `known` paths.
  /// `nil` if the method, or its service, is named.
  func nearMiss(of method: MethodDescriptor, besides known: Set<String>) -> MethodConfig.Name? {
    guard positions[method.path] == nil, positions["/\(method.service)/"] == nil else { return nil }
    let service = Self.letters(method.service)
    let bare = Self.letters(method.service.split(separator: ".").last ?? "")
    let name = Self.letters(method.method)
    return methodConfigs.lazy.flatMap(\.names).first { candidate in
      let letters = Self.letters(candidate.service + candidate.method)
      return candidate.method.isEmpty && [service, bare].contains(letters)
        || [service + name, bare + name].contains(letters)
        || Self.letters(candidate.service) == service && !known.contains(candidate.key)
          && Self.isMisspelling(Self.letters(candidate.method), of: name)
    }
  }

  /// Whether a name is probably a misspelling of a method's, and not the name of another method of its service, as `Set` is beside
  /// `Get`, `GetItems` beside `GetItem`, or `Find2` beside `Find`.
  private static func isMisspelling(_ name: [UInt8], of method: [UInt8]) -> Bool {
    let plural = [UInt8(ascii: "s")]
    guard name.first == method.first, name.filter(\.isDigit) == method.filter(\.isDigit),
      name != method + plural, method != name + plural
    else { return false }
    return NearNames.differBySlip(name, method)
  }

  private static func letters(_ name: some StringProtocol) -> [UInt8] {
    name.utf8.filter { $0.isLetter || $0.isDigit }.map(\.lowercased)
  }

  /// Whether the methods that a name of a configuration stands for would have another one without it.
  func hasConfig(moreGeneralThan name: MethodConfig.Name, at position: Int) -> Bool {
    let others = (name.method.isEmpty ? [] : ["/\(name.service)/"]) + (name.service.isEmpty ? [] : ["//"])
    return others.contains { positions[$0].map { $0 != position } ?? false }
  }
}

extension MethodConfig: RuledOptions {
  package static let rules: [OptionRule<MethodConfig>] = [
    OptionRule(\.timeout, "timeout", .atLeast(.zero)),
    OptionRule(\.maxRequestMessageBytes, "maxRequestMessageBytes", .atLeast(0)),
    OptionRule(\.maxResponseMessageBytes, "maxResponseMessageBytes", .atLeast(0)),
  ]
}

/// The configuration of some methods.
public struct MethodConfig: Hashable, Sendable {
  /// One method, all methods of a service, or all methods.
  public struct Name: Hashable, Sendable, CustomStringConvertible {
    /// The full name of the service; empty for all services.
    package let service: String
    /// The name of the method; empty for all methods of the service.
    package let method: String

    /// Creates a name. Throws `INVALID_ARGUMENT` for a method without a service.
    public init(service: String = "", method: String = "") throws(GRPCStatus) {
      guard method.isEmpty || !service.isEmpty else {
        throw .invalidServiceConfig("method", "\(method.excerpt) is named without its service")
      }
      self.service = service
      self.method = method
    }

    public var description: String {
      if service.isEmpty { return "all methods" }
      return method.isEmpty ? "all methods of \(service)" : "\(service)/\(method)"
    }

    /// The path of the method. Names that are not given are empty.
    var key: String { "/\(service)/\(method)" }
  }

  /// How a call is repeated.
  public enum Repetition: Hashable, Sendable {
    /// After a failure.
    case retry(RetryPolicy)
    /// In parallel, before a failure is known.
    case hedge(HedgingPolicy)
  }

  /// The methods that it configures.
  public var names: [Name]
  /// The timeout of calls; a call's own applies if it is shorter.
  public var timeout: Duration?
  /// Whether calls wait for a connection, unless they choose this themselves.
  public var waitForReady: Bool?
  /// Whether and how calls are repeated.
  public var repetition: Repetition?
  /// The largest request that may be sent.
  public var maxRequestMessageBytes: Int?
  /// The largest response accepted; a call's own limit applies if it is smaller.
  public var maxResponseMessageBytes: Int?

  /// Creates a configuration. Settings that are omitted are not configured.
  public init(names: [Name], timeout: Duration? = nil, repetition: Repetition? = nil) {
    self.names = names
    self.timeout = timeout
    self.repetition = repetition
  }
}
