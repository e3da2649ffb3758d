// text: names of members are our own

import SwitchboardBalancing
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

private typealias ProxyTransport =
  Envoy_Extensions_TransportSockets_Http11Proxy_V3_Http11ProxyUpstreamTransport

extension ClusterResource {
  /// More clusters in one are refused.
  private static let aggregateLimit = 1024

  /// `server` has sent it, which may say which authority calls have if it is trusted; `providers` are the names of certificate providers of the bootstrap.
  init(
    _ message: Envoy_Config_Cluster_V3_Cluster,
    of server: ServerID,
    isTrusted: Bool,
    _ policies: PolicyRegistry,
    _ providers: Set<ExactText>,
    _ patterns: PatternReader
  ) throws(ResourceFault) {
    kind = try Self.kind(message)
    self.isTrusted = isTrusted
    if message.hasTransportSocket {
      (security, usesProxies) = try part("transport_socket") { () throws(ResourceFault) in
        try Self.transport(message.transportSocket, providers, patterns)
      }
    }
    if message.hasLrsServer {
      guard case .self_p = message.lrsServer.configSourceSpecifier else {
        throw ResourceFault("lrs_server", "is not self")
      }
      reports = ReportRule(server: server, metrics: MetricRule(message.lrsReportEndpointMetrics))
    }
    name = message.name
    // That of an aggregate is ignored, also one that nobody knows: its clusters have their own (gRFC A75).
    if case .aggregate = kind {
      policy = .whole([])
    } else {
      policy = try ClusterPolicyReader(policies).policy(of: message)
    }
    // Of equal priorities, the first one counts.
    if let threshold = message.circuitBreakers.thresholds.first(where: { $0.priority == .default }),
      threshold.hasMaxRequests
    {
      maxRequests = Int(threshold.maxRequests.value)
    }
    if message.hasCommonLbConfig, message.commonLbConfig.hasOverrideHostStatus {
      sessionHealth = Set(
        message.commonLbConfig.overrideHostStatus.statuses.compactMap { EndpointHealth($0) }
      )
    }
    if message.hasUpstreamConfig {
      idleTimeout = try part("upstream_config.typed_config") { () throws(ResourceFault) in
        try Self.idleTimeout(message.upstreamConfig.typedConfig)
      }
    }
    guard message.hasOutlierDetection else { return }
    outlierDetection = try part("outlier_detection") { () throws(ResourceFault) in
      try message.outlierDetection.rules()
    }
  }

  private static func idleTimeout(_ packed: Google_Protobuf_Any) throws(ResourceFault) -> Duration {
    let options = try packed.contents(Envoy_Extensions_Upstreams_Http_V3_HttpProtocolOptions.self)
    let common = options.commonHTTPProtocolOptions
    guard common.hasIdleTimeout else { return .seconds(3600) }
    return try common.idleTimeout.length("common_http_protocol_options.idle_timeout")
  }

  /// How connections are secured, and whether they go through the proxies of endpoints.
  private static func transport(
    _ socket: Envoy_Config_Core_V3_TransportSocket,
    _ providers: Set<ExactText>,
    _ patterns: PatternReader
  ) throws(ResourceFault) -> (ClusterSecurity?, usesProxies: Bool) {
    guard socket.typedConfig.isA(ProxyTransport.self) else {
      return (try ClusterSecurity(socket, providers, patterns), usesProxies: false)
    }
    return try part("typed_config") { () throws(ResourceFault) in
      let proxied = try socket.typedConfig.contents(ProxyTransport.self)
      guard proxied.hasTransportSocket else { return (nil, usesProxies: true) }
      let security = try part("transport_socket") { () throws(ResourceFault) in
        try ClusterSecurity(proxied.transportSocket, providers, patterns)
      }
      return (security, usesProxies: true)
    }
  }

  private static func kind(_ message: Envoy_Config_Cluster_V3_Cluster) throws(ResourceFault) -> Kind {
    switch message.clusterDiscoveryType {
    case .type(.eds):
      guard message.hasEdsClusterConfig else { throw ResourceFault("eds_cluster_config", "is missing") }
      try message.edsClusterConfig.edsConfig.check("eds_cluster_config.eds_config")
      let name = message.edsClusterConfig.serviceName
      if name.isEmpty, message.name.begins(with: "xdstp:") {
        throw ResourceFault("eds_cluster_config.service_name", "is missing, which an xdstp: cluster needs")
      }
      return .endpoints(name.isEmpty ? message.name : try name.name("eds_cluster_config.service_name"))
    case .clusterType(let custom):
      return try part("cluster_type.typed_config") { () throws(ResourceFault) in
        let config = try custom.typedConfig.contents(
          Envoy_Extensions_Clusters_Aggregate_V3_ClusterConfig.self
        )
        guard (1...aggregateLimit).contains(config.clusters.count) else {
          throw ResourceFault(
            "clusters",
            config.clusters.isEmpty ? "is empty" : "are more than \(aggregateLimit)"
          )
        }
        return .aggregate(
          try parts("clusters", config.clusters) { (name) throws(ResourceFault) in try name.name("") }
        )
      }
    case .type(.logicalDns):
      guard message.hasLoadAssignment else { throw ResourceFault("load_assignment", "is missing") }
      return .name(
        try part("load_assignment") { () throws(ResourceFault) in try message.loadAssignment.name() }
      )
    case .type(let other): throw ResourceFault("type", "\(other) is not supported")
    case nil: throw ResourceFault("type", "is missing")
    }
  }
}

extension Envoy_Config_Endpoint_V3_ClusterLoadAssignment {
  /// The name of a cluster of the type LOGICAL_DNS: that of its only endpoint.
  fileprivate func name() throws(ResourceFault) -> EndpointAddress {
    let place = try endpoints.only("endpoints")
    return try part("endpoints[0]") { () throws(ResourceFault) in
      let server = try place.lbEndpoints.only("lb_endpoints")
      return try part("lb_endpoints[0].endpoint.address") { () throws(ResourceFault) in
        let address = server.endpoint.address
        guard address.socketAddress.resolverName.isEmpty else {
          throw ResourceFault("socket_address.resolver_name", "is not supported")
        }
        return try address.value()
      }
    }
  }
}

extension Array {
  fileprivate func only(_ path: String) throws(ResourceFault) -> Element {
    guard count == 1, let first else { throw ResourceFault(path, "are \(count), and not one") }
    return first
  }
}

extension Envoy_Config_Cluster_V3_OutlierDetection {
  fileprivate func rules() throws(ResourceFault) -> OutlierRules {
    let members = try members()
    do throws(GRPCStatus) {
      return try OutlierRules(members)
    } catch { throw ResourceFault(error) }
  }

  /// The members of the configuration of the policy (gRFC A50).
  private func members() throws(ResourceFault) -> [String: ConfigValue] {
    var members: [String: ConfigValue] = [:]
    func set(_ name: String, _ duration: Google_Protobuf_Duration, _ path: String, _ isSet: Bool)
      throws(ResourceFault)
    {
      guard isSet else { return }
      members[name] = .duration(try duration.length(path))
    }
    try set("interval", interval, "interval", hasInterval)
    try set("baseEjectionTime", baseEjectionTime, "base_ejection_time", hasBaseEjectionTime)
    try set("maxEjectionTime", maxEjectionTime, "max_ejection_time", hasMaxEjectionTime)
    members["maxEjectionPercent"] = try maxEjectionPercent.percent(
      "max_ejection_percent",
      hasMaxEjectionPercent
    )
    let rate = try enforcingSuccessRate.percent("enforcing_success_rate", hasEnforcingSuccessRate)
    if rate != .number(0) {
      var ejection: [String: ConfigValue] = [:]
      ejection["enforcementPercentage"] = rate
      ejection["stdevFactor"] = successRateStdevFactor.number(hasSuccessRateStdevFactor)
      ejection["minimumHosts"] = successRateMinimumHosts.number(hasSuccessRateMinimumHosts)
      ejection["requestVolume"] = successRateRequestVolume.number(hasSuccessRateRequestVolume)
      members["successRateEjection"] = .object(ejection)
    }
    let share = try enforcingFailurePercentage.percent(
      "enforcing_failure_percentage",
      hasEnforcingFailurePercentage
    )
    if let share, share != .number(0) {
      var ejection: [String: ConfigValue] = ["enforcementPercentage": share]
      ejection["threshold"] = try failurePercentageThreshold.percent(
        "failure_percentage_threshold",
        hasFailurePercentageThreshold
      )
      ejection["minimumHosts"] = failurePercentageMinimumHosts.number(hasFailurePercentageMinimumHosts)
      ejection["requestVolume"] = failurePercentageRequestVolume.number(hasFailurePercentageRequestVolume)
      members["failurePercentageEjection"] = .object(ejection)
    }
    return members
  }
}

extension Google_Protobuf_UInt32Value {
  fileprivate func number(_ isSet: Bool) -> ConfigValue? { isSet ? .number(Double(value)) : nil }

  fileprivate func percent(_ path: String, _ isSet: Bool) throws(ResourceFault) -> ConfigValue? {
    guard value <= 100 else { throw ResourceFault(path, "is above 100") }
    return number(isSet)
  }
}

extension ConfigValue {
  /// A duration in JSON.
  static func duration(_ duration: Duration) -> ConfigValue {
    let (seconds, attoseconds) = duration.components
    let digits = String(attoseconds / 1_000_000_000)
    return .string("\(seconds).\(String(repeating: "0", count: max(0, 9 - digits.utf8.count)))\(digits)s")
  }
}
