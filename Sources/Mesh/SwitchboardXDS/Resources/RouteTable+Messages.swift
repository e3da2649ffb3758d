import SwitchboardBalancing
import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

extension RouteTable {
  /// How many routes, and clusters of routes, there may be together.
  private static let limit = 65_536
  /// How many rules for headers and for hashes there may be together: a call may be compared with all of them.
  private static let ruleLimit = 65_536
  private static let domainLimit = 262_144

  init(
    _ message: Envoy_Config_Route_V3_RouteConfiguration,
    _ patterns: PatternReader,
    _ isTrusted: Bool
  ) throws(ResourceFault) {
    for (position, plugin) in message.clusterSpecifierPlugins.enumerated() where !plugin.isOptional {
      throw ResourceFault(
        "cluster_specifier_plugins[\(position)]",
        "the plugin \(plugin.extension.name.excerpt) is not supported"
      )
    }
    let plugins = Set(message.clusterSpecifierPlugins.map { ExactText($0.extension.name) })
    virtualHosts = try parts("virtual_hosts", message.virtualHosts) { (host) throws(ResourceFault) in
      try VirtualHost(host, plugins, patterns, isTrusted)
    }
    let routes = virtualHosts.lazy.flatMap(\.routes)
    guard routes.reduce(0, { $0 + 1 + ($1.action?.clusters.count ?? 0) }) <= Self.limit else {
      throw ResourceFault("virtual_hosts", "have more than \(Self.limit) routes and clusters together")
    }
    guard
      routes.reduce(0, { $0 + $1.match.headers.count + ($1.action?.hash.count ?? 0) }) <= Self.ruleLimit
    else {
      throw ResourceFault(
        "virtual_hosts",
        "have more than \(Self.ruleLimit) rules for headers and hashes together"
      )
    }
    guard virtualHosts.reduce(0, { $0 + $1.domains.count }) <= Self.domainLimit else {
      throw ResourceFault("virtual_hosts", "have more than \(Self.domainLimit) domains together")
    }
  }
}

extension VirtualHost {
  fileprivate init(
    _ message: Envoy_Config_Route_V3_VirtualHost,
    _ plugins: Set<ExactText>,
    _ patterns: PatternReader,
    _ isTrusted: Bool
  ) throws(ResourceFault) {
    domains = try parts("domains", message.domains) { (domain) throws(ResourceFault) in
      guard let pattern = DomainPattern(domain) else {
        throw ResourceFault("", "is not a name with one * at its beginning or its end: \(domain.excerpt)")
      }
      return pattern
    }
    guard !domains.isEmpty else { throw ResourceFault("domains", "is empty") }
    overrides = try HTTPFilters.overrides(message.typedPerFilterConfig)
    let retry = message.hasRetryPolicy ? message.retryPolicy : nil
    routes = try parts("routes", message.routes) { (route) throws(ResourceFault) in
      try Route(route, retry, plugins, patterns, isTrusted)
    }
  }
}

extension Route {
  /// `nil` for a route that clients ignore.
  fileprivate init?(
    _ message: Envoy_Config_Route_V3_Route,
    _ retry: Envoy_Config_Route_V3_RetryPolicy?,
    _ plugins: Set<ExactText>,
    _ patterns: PatternReader,
    _ isTrusted: Bool
  ) throws(ResourceFault) {
    guard message.match.queryParameters.isEmpty else { return nil }
    match = try part("match") { () throws(ResourceFault) in try RouteMatch(message.match, patterns) }
    overrides = try HTTPFilters.overrides(message.typedPerFilterConfig)
    // Redirects, direct responses and actions of servers.
    guard case .route(let action) = message.action else { return }
    switch action.clusterSpecifier {
    case .clusterHeader: return nil
    case .clusterSpecifierPlugin(let name):
      guard plugins.contains(name) else {
        throw ResourceFault("route.cluster_specifier_plugin", "names none of the plugins: \(name.excerpt)")
      }
      return nil
    case .cluster, .weightedClusters, nil: break
    }
    self.action = try part("route") { () throws(ResourceFault) in
      try RouteAction(action, retry, patterns, isTrusted)
    }
  }
}

extension RouteMatch {
  fileprivate init(
    _ message: Envoy_Config_Route_V3_RouteMatch,
    _ patterns: PatternReader
  ) throws(ResourceFault) {
    let ignoresCase = message.hasCaseSensitive && !message.caseSensitive.value
    func bytes(_ text: String) -> [UInt8] { ignoresCase ? [UInt8](lowercased: text) : Array(text.utf8) }
    switch message.pathSpecifier {
    case .prefix(let text): path = .prefix(bytes(text))
    case .path(let text): path = .exact(bytes(text))
    case .safeRegex(let regex): path = .pattern(try patterns.pattern(regex, "safe_regex"))
    case nil: throw ResourceFault("", "has none of the rules for paths that are known")
    }
    self.ignoresCase = ignoresCase
    headers = try parts("headers", message.headers) { (header) throws(ResourceFault) in
      try HeaderRule(header, patterns)
    }
    guard message.hasRuntimeFraction else { return }
    millionths = try message.runtimeFraction.defaultValue.millionths("runtime_fraction.default_value")
  }
}

extension HeaderRule {
  fileprivate init(
    _ message: Envoy_Config_Route_V3_HeaderMatcher,
    _ patterns: PatternReader
  ) throws(ResourceFault) {
    guard !message.name.isEmpty else { throw ResourceFault("name", "is empty") }
    field = MetadataField(name: [UInt8](lowercased: message.name))
    isInverted = message.invertMatch
    switch message.headerMatchSpecifier {
    case .exactMatch(let text): test = .text(.exact(Array(text.utf8)), ignoresCase: false)
    case .prefixMatch(let text): test = .text(.prefix(Array(text.utf8)), ignoresCase: false)
    case .suffixMatch(let text): test = .text(.suffix(Array(text.utf8)), ignoresCase: false)
    case .containsMatch(let text): test = .text(.contains(Array(text.utf8)), ignoresCase: false)
    case .presentMatch(let isWanted): test = .present(isWanted)
    case .rangeMatch(let range):
      guard range.start <= range.end else { throw ResourceFault("range_match", "ends before it starts") }
      test = .range(range.start..<range.end)
    case .stringMatch(let matcher):
      let rule = try part("string_match") { () throws(ResourceFault) in try patterns.rule(matcher) }
      test = .text(rule.text, ignoresCase: rule.ignoresCase)
    case .safeRegexMatch(let regex):
      test = .text(.pattern(try patterns.pattern(regex, "safe_regex_match")), ignoresCase: false)
    case nil: throw ResourceFault("", "has none of the rules for values that are known")
    }
  }
}

extension RouteAction {
  /// How many rules the hash of a call may have: each is applied to each call.
  private static let hashLimit = 64

  fileprivate init(
    _ message: Envoy_Config_Route_V3_RouteAction,
    _ hostRetry: Envoy_Config_Route_V3_RetryPolicy?,
    _ patterns: PatternReader,
    _ isTrusted: Bool
  ) throws(ResourceFault) {
    switch message.clusterSpecifier {
    case .cluster(let name):
      clusters = [WeightedCluster(name: try name.name("cluster"), weight: 1)]
    case .weightedClusters(let weighted):
      clusters = try part("weighted_clusters") { () throws(ResourceFault) in try Self.clusters(weighted) }
    case .clusterHeader, .clusterSpecifierPlugin, nil:
      throw ResourceFault("", "has none of the choices of clusters that are known")
    }
    let duration = message.maxStreamDuration
    if duration.hasGrpcTimeoutHeaderMax {
      timeout = .limit(try duration.grpcTimeoutHeaderMax.limit("max_stream_duration.grpc_timeout_header_max"))
    } else if duration.hasMaxStreamDuration {
      timeout = .limit(try duration.maxStreamDuration.limit("max_stream_duration.max_stream_duration"))
    }
    if message.hasRetryPolicy {
      retry = try part("retry_policy") { () throws(ResourceFault) in try RetryRule(message.retryPolicy) }
    } else if let hostRetry {
      retry = try part("retry_policy") { () throws(ResourceFault) in try RetryRule(hostRetry) }
    }
    rewritesAuthority = isTrusted && message.autoHostRewrite.value
    guard message.hashPolicy.count <= Self.hashLimit else {
      throw ResourceFault("hash_policy", "has more than \(Self.hashLimit) rules")
    }
    hash = try parts("hash_policy", message.hashPolicy) { (policy) throws(ResourceFault) in
      try HashRule(policy, patterns)
    }
  }

  private static func clusters(
    _ weighted: Envoy_Config_Route_V3_WeightedCluster
  ) throws(ResourceFault) -> [WeightedCluster] {
    var sum = 0
    let clusters = try parts("clusters", weighted.clusters) {
      (cluster) throws(ResourceFault) -> WeightedCluster? in
      let name = try cluster.name.name("name")
      let overrides = try HTTPFilters.overrides(cluster.typedPerFilterConfig)
      sum += Int(cluster.weight.value)
      return cluster.weight.value == 0
        ? nil : WeightedCluster(name: name, weight: Int(cluster.weight.value), overrides: overrides)
    }
    guard (1...Int(UInt32.max)).contains(sum) else {
      throw ResourceFault("clusters", sum == 0 ? "have no weight" : "have weights whose sum exceeds 32 bits")
    }
    return clusters
  }
}

extension RetryRule {
  /// `nil` if no condition is one of gRPC's.
  fileprivate init?(_ message: Envoy_Config_Route_V3_RetryPolicy) throws(ResourceFault) {
    var found: [Condition] = []
    for name in message.retryOn.utf8.split(separator: UInt8(ascii: ",")) {
      let name = String(Substring(name.drop { $0 == UInt8(ascii: " ") }))
      guard let condition = Condition.allCases.first(where: { $0.rawValue.isExactly(name) }),
        !found.contains(condition)
      else { continue }
      found.append(condition)
    }
    retries = message.hasNumRetries ? Int(message.numRetries.value) : 1
    guard retries > 0 else { throw ResourceFault("num_retries", "is 0") }
    conditions = found
    if message.hasRetryBackOff {
      let backOff = message.retryBackOff
      guard backOff.hasBaseInterval, let base = try backOff.baseInterval.limit("retry_back_off.base_interval")
      else {
        throw ResourceFault("retry_back_off.base_interval", "is missing or 0")
      }
      baseInterval = max(base, .milliseconds(1))
      maxInterval = baseInterval * 10
      if backOff.hasMaxInterval {
        let longest = try backOff.maxInterval.length("retry_back_off.max_interval")
        guard longest >= base else {
          throw ResourceFault("retry_back_off.max_interval", "is below base_interval")
        }
        maxInterval = max(longest, .milliseconds(1))
      }
    }
    if found.isEmpty { return nil }
  }
}

extension HashRule {
  /// `nil` for a rule that gRPC does not know.
  fileprivate init?(
    _ message: Envoy_Config_Route_V3_RouteAction.HashPolicy,
    _ patterns: PatternReader
  ) throws(ResourceFault) {
    isTerminal = message.terminal
    switch message.policySpecifier {
    case .header(let header):
      let rewrite =
        header.hasRegexRewrite
        ? try part("header.regex_rewrite") { () throws(ResourceFault) in
          try patterns.substitution(header.regexRewrite)
        } : nil
      // Binary fields are no part of a hash.
      guard !header.headerName.ends(with: "-bin") else { return nil }
      source = .header(MetadataField(name: [UInt8](lowercased: header.headerName)), rewrite: rewrite)
    case .filterState(let state):
      guard state.key.isExactly("io.grpc.channel_id") else { return nil }
      source = .channel
    case nil: return nil
    }
  }
}

extension Envoy_Type_V3_FractionalPercent {
  /// The share as a number of calls of a million.
  func millionths(_ path: String) throws(ResourceFault) -> Int {
    min(Int(numerator) * (try scale(path)), 1_000_000)
  }

  /// How many calls of a million one of the numerator is.
  func scale(_ path: String) throws(ResourceFault) -> Int {
    switch denominator {
    case .hundred: 10_000
    case .tenThousand: 100
    case .million: 1
    case .UNRECOGNIZED: throw ResourceFault("\(path).denominator", "is unknown")
    }
  }
}
