import SwitchboardProtobuf
import Testing
import XDSMessages

@testable import SwitchboardXDS

/// What is valid, and why other resources are refused.
@Suite struct ResourceTests {
  private typealias Cluster = Envoy_Config_Cluster_V3_Cluster
  private typealias Routes = Envoy_Config_Route_V3_RouteConfiguration
  private typealias Endpoints = Envoy_Config_Endpoint_V3_ClusterLoadAssignment

  private func read(_ message: some Message, _ type: ResourceType) throws -> ResourceReader.Read {
    try #require(ResourceReader().read([try Google_Protobuf_Any(message: message)], of: type).first)
  }

  private func fault(_ message: some Message, _ type: ResourceType) throws -> String? {
    switch try read(message, type).result {
    case .success: nil
    case .failure(let fault): fault.description
    }
  }

  private func cluster(_ change: (inout Cluster) -> Void = { _ in }) -> Cluster {
    .with {
      $0.name = "c"
      $0.type = .eds
      $0.edsClusterConfig.edsConfig.ads = .init()
      change(&$0)
    }
  }

  @Test func clusters() throws {
    #expect(try fault(cluster(), .cluster) == nil)
    #expect(try fault(cluster { $0.type = .logicalDns }, .cluster) == "load_assignment: is missing")
    #expect(try fault(cluster { $0.clusterDiscoveryType = nil }, .cluster) == "type: is missing")
    #expect(
      try fault(cluster { $0.edsClusterConfig.edsConfig = .init() }, .cluster)
        == "eds_cluster_config.eds_config: is neither ads nor self"
    )
    #expect(try fault(cluster { $0.lbPolicy = .random }, .cluster)?.hasPrefix("lb_policy:") == true)
    #expect(
      try fault(cluster { $0.transportSocket.name = "tls" }, .cluster)?.hasPrefix(
        "transport_socket.typed_config:"
      ) == true
    )
    #expect(
      try fault(cluster { $0.outlierDetection.maxEjectionPercent.value = 101 }, .cluster)
        == "outlier_detection.max_ejection_percent: is above 100"
    )
    #expect(
      try fault(
        cluster {
          $0.lbPolicy = .ringHash
          $0.ringHashLbConfig.minimumRingSize.value = 9_000_000
        },
        .cluster
      )
        == "lb_policy.minimum_ring_size: is not from 1 to the maximum"
    )
    #expect(try fault(cluster { $0.name = "" }, .cluster) == "name: is empty")
  }

  @Test func policiesOfClusters() throws {
    func policy(_ cluster: Cluster) throws -> ClusterResource.Policy? {
      let reads = ResourceReader().read([try Google_Protobuf_Any(message: cluster)], of: .cluster)
      guard case .success(.cluster(let found))? = reads.first?.result else { return nil }
      return found.policy
    }
    #expect(try policy(cluster()) == .byLocality([.init("round_robin")]))
    func listed(_ extensions: [any Message]) throws -> Cluster {
      let policies = try extensions.map { message in
        try Envoy_Config_Cluster_V3_LoadBalancingPolicy.Policy.with {
          $0.typedExtensionConfig.typedConfig = try Google_Protobuf_Any(message: message)
        }
      }
      return cluster { $0.loadBalancingPolicy.policies = policies }
    }
    let unknown = Xds_Type_V3_TypedStruct.with { $0.typeURL = "example.com/nobodys.policy" }
    let own = Xds_Type_V3_TypedStruct.with { $0.typeURL = "example.com/random_subsetting" }
    let roundRobin = Envoy_Extensions_LoadBalancingPolicies_RoundRobin_V3_RoundRobin()
    #expect(try policy(try listed([unknown, roundRobin])) == .whole([.init("round_robin")]))
    #expect(
      try fault(try listed([unknown]), .cluster)
        == "load_balancing_policy.policies: has none that is supported: xds.type.v3.TypedStruct"
    )
    #expect(try fault(try listed([own]), .cluster)?.hasPrefix("load_balancing_policy.policies[0].") == true)
    // Policies within policies, deeper than anybody needs.
    typealias Places = Envoy_Extensions_LoadBalancingPolicies_WrrLocality_V3_WrrLocality
    var nested = try Google_Protobuf_Any(message: roundRobin)
    for _ in 0..<20 {
      let places = Places.with {
        $0.endpointPickingPolicy.policies = [.with { $0.typedExtensionConfig.typedConfig = nested }]
      }
      nested = try Google_Protobuf_Any(message: places)
    }
    let deep = nested
    let failure = try fault(
      cluster { $0.loadBalancingPolicy.policies = [.with { $0.typedExtensionConfig.typedConfig = deep }] },
      .cluster
    )
    #expect(failure?.hasSuffix("is nested deeper than 16") == true)
  }

  private func routes(_ change: (inout Envoy_Config_Route_V3_Route) -> Void) -> Routes {
    .with {
      $0.name = "r"
      $0.virtualHosts = [
        .with {
          $0.domains = ["*"]
          $0.routes = [
            .with {
              $0.match.prefix = ""
              $0.route.cluster = "c"
              change(&$0)
            }
          ]
        }
      ]
    }
  }

  @Test func routes() throws {
    let path = "virtual_hosts[0].routes[0]."
    #expect(try fault(routes { _ in }, .routes) == nil)
    #expect(
      try fault(routes { $0.match.pathSpecifier = nil }, .routes)
        == "\(path)match: has none of the rules for paths that are known"
    )
    #expect(try fault(routes { $0.route.cluster = "" }, .routes) == "\(path)route.cluster: is empty")
    #expect(
      try fault(routes { $0.match.headers = [.with { $0.name = "k" }] }, .routes)
        == "\(path)match.headers[0]: has none of the rules for values that are known"
    )
    #expect(
      try fault(routes { $0.route.weightedClusters = .init() }, .routes)
        == "\(path)route.weighted_clusters.clusters: have no weight"
    )
    let huge: [Envoy_Config_Route_V3_WeightedCluster.ClusterWeight] = (0..<2).map { number in
      .with { ($0.name, $0.weight.value) = ("\(number)", .max) }
    }
    #expect(
      try fault(routes { $0.route.weightedClusters.clusters = huge }, .routes)?.hasSuffix("exceeds 32 bits")
        == true
    )
    #expect(
      try fault(routes { $0.route.retryPolicy.numRetries.value = 0 }, .routes)
        == "\(path)route.retry_policy.num_retries: is 0"
    )
    #expect(
      try fault(routes { $0.route.maxStreamDuration.maxStreamDuration.seconds = -1 }, .routes)
        == "\(path)route.max_stream_duration.max_stream_duration: is not a duration of zero or more"
    )
    let config = try Google_Protobuf_Any(message: Google_Protobuf_Empty())
    #expect(
      try fault(routes { $0.typedPerFilterConfig["f"] = config }, .routes)?.hasSuffix(
        "google.protobuf.Empty is not supported"
      ) == true
    )
    // Ignored, as all clients of gRPC ignore them.
    for ignored in [routes { $0.match.queryParameters = [.init()] }, routes { $0.route.clusterHeader = "x" }]
    {
      guard case .success(.routes(let table)) = try read(ignored, .routes).result else {
        Issue.record("refused")
        continue
      }
      #expect(table.virtualHosts.first?.routes.isEmpty == true)
    }
  }

  @Test func patterns() throws {
    let path = "virtual_hosts[0].routes[0]."
    func header(_ change: (inout Envoy_Config_Route_V3_HeaderMatcher) -> Void) throws -> String? {
      var header = Envoy_Config_Route_V3_HeaderMatcher.with { $0.name = "k" }
      change(&header)
      return try fault(routes { $0.match.headers = [header] }, .routes)
    }
    #expect(try fault(routes { $0.match.safeRegex.regex = "/a/[^/]+" }, .routes) == nil)
    #expect(
      try fault(routes { $0.match.safeRegex.regex = "(?=a)" }, .routes)
        == "\(path)match.safe_regex.regex: is no pattern of RE2: invalid perl operator: (?="
    )
    #expect(try header { $0.safeRegexMatch.regex = "a|b" } == nil)
    // gRFC A63 has it ignored; C-core refuses it.
    #expect(try header { ($0.stringMatch.safeRegex.regex, $0.stringMatch.ignoreCase) = ("a", true) } == nil)
    #expect(
      try header { $0.safeRegexMatch.regex = "a{1001}" }
        == "\(path)match.headers[0].safe_regex_match.regex: is no pattern of RE2: invalid repetition size: {1001}"
    )
    #expect(
      try header { $0.stringMatch.safeRegex.regex = "\\pL{500}" }
        == "\(path)match.headers[0].string_match.safe_regex.regex: is no pattern of RE2: "
        + "pattern too large - compile failed"
    )
    // What is shown of a pattern is short, and has no characters that control a terminal.
    let long = "(" + String(repeating: "\u{1b}", count: 5000)
    #expect(try header { $0.safeRegexMatch.regex = long }?.hasSuffix("has more than 4096 bytes") == true)
    #expect(try header { $0.safeRegexMatch.regex = "(\u{1b}[2J" }?.contains("\u{1b}") == false)
  }

  @Test func rewritesOfHashes() throws {
    typealias Rewrite = Envoy_Type_Matcher_V3_RegexMatchAndSubstitute
    func hash(_ change: (inout Rewrite) -> Void) throws -> String? {
      var rewrite = Rewrite()
      change(&rewrite)
      let policy = Envoy_Config_Route_V3_RouteAction.HashPolicy.with {
        $0.header.headerName = "user"
        $0.header.regexRewrite = rewrite
      }
      return try fault(routes { $0.route.hashPolicy = [policy] }, .routes)
    }
    let path = "virtual_hosts[0].routes[0].route.hash_policy[0].header.regex_rewrite."
    #expect(try hash { ($0.pattern.regex, $0.substitution) = ("(a)", "\\1\\0") } == nil)
    #expect(try hash { $0.substitution = "b" } == "\(path)pattern: is missing")
    #expect(
      try hash { $0.pattern.regex = "[" } == "\(path)pattern.regex: is no pattern of RE2: missing ]: ["
    )
    #expect(
      try hash { ($0.pattern.regex, $0.substitution) = ("(a)", "\\2") }
        == "\(path)substitution: Rewrite schema requests 2 matches, but the regexp only has 1 "
        + "parenthesized subexpressions."
    )
  }

  /// Patterns cost time and memory before anybody calls: what a response may have of them is bounded, and equal ones count once.
  @Test func aResponseHasABoundedNumberOfPatterns() throws {
    func table(_ patterns: [String]) -> Routes {
      var table = routes { _ in }
      table.virtualHosts[0].routes = patterns.map { pattern in
        .with {
          $0.match.safeRegex.regex = pattern
          $0.route.cluster = "c"
        }
      }
      return table
    }
    let most = (0..<1024).map { "/\($0)" }
    #expect(try fault(table(most + most), .routes) == nil)
    #expect(
      try fault(table(most + ["/more"]), .routes)
        == "virtual_hosts[0].routes[1024].match.safe_regex.regex: is one pattern too many: a response has at most 1024 "
        + "different ones, with at most 262144 steps together"
    )
    let large = (900..<950).map { "[^/]{1,\($0)}" }
    #expect(try fault(table(large), .routes)?.contains("is one pattern too many") == true)
    // A call may be compared with each use of the same one.
    let usedOften = [String](repeating: "[^/]{1,900}", count: 2000)
    #expect(try fault(table(usedOften), .routes)?.contains("is used once too often") == true)
  }

  private func endpoints(_ places: [Envoy_Config_Endpoint_V3_LocalityLbEndpoints]) -> Endpoints {
    .with { ($0.clusterName, $0.endpoints) = ("e", places) }
  }

  private func place(
    _ zone: String,
    _ ports: [UInt32],
    priority: UInt32 = 0,
    weight: UInt32 = 1,
    address: String = "10.0.0.1"
  ) -> Envoy_Config_Endpoint_V3_LocalityLbEndpoints {
    .with {
      $0.locality.zone = zone
      ($0.priority, $0.loadBalancingWeight.value) = (priority, weight)
      $0.lbEndpoints = ports.map { port in
        .with {
          $0.endpoint.address.socketAddress.address = address
          $0.endpoint.address.socketAddress.portValue = port
        }
      }
    }
  }

  @Test func endpoints() throws {
    #expect(
      try fault(endpoints([place("a", [1]), place("b", [2]), place("a", [3], priority: 1)]), .endpoints)
        == nil
    )
    #expect(
      try fault(endpoints([place("a", [1], priority: 1)]), .endpoints)
        == "endpoints: have the priority 1, and none has 0"
    )
    #expect(
      try fault(endpoints([place("a", [1]), place("a", [2])]), .endpoints)
        == "endpoints: have a place twice, in priority 0"
    )
    #expect(
      try fault(endpoints([place("a", [7]), place("b", [7])]), .endpoints)
        == "endpoints[1].lb_endpoints[0]: has the address of another endpoint: 10.0.0.1:7"
    )
    #expect(
      try fault(endpoints([place("a", [1], address: "a/b")]), .endpoints)
        == "endpoints[0].lb_endpoints[0].endpoint.address.socket_address.address: is no address and no name: a/b"
    )
    #expect(
      try fault(endpoints([place("a", [70000])]), .endpoints)
        == "endpoints[0].lb_endpoints[0].endpoint.address.socket_address.port_value: is missing or above 65535"
    )
    #expect(
      try fault(endpoints([place("a", [1], weight: .max), place("b", [2])]), .endpoints)
        == "endpoints: have weights whose sum exceeds 32 bits, in priority 0"
    )
    // A place without weight gets no calls, whatever it has.
    guard
      case .success(.endpoints(let none)) = try read(endpoints([place("a", [1], weight: 0)]), .endpoints)
        .result
    else {
      Issue.record("refused")
      return
    }
    #expect(none.priorities.isEmpty)
  }

  @Test func whatCannotBeDecodedIsRefused() throws {
    let url = ResourceType.cluster.typeURL
    let broken = Google_Protobuf_Any.with { ($0.typeURL, $0.value) = (url, [0xff, 0xff]) }
    let other = try Google_Protobuf_Any(message: Routes())
    let reads = ResourceReader().read([broken, other], of: .cluster)
    #expect(reads.map(\.name) == [nil, nil])
    #expect(reads.allSatisfy { if case .failure = $0.result { true } else { false } })
  }

  @Test func aWrapperMayHaveTheName() throws {
    let wrapper = try Envoy_Service_Discovery_V3_Resource.with {
      $0.name = "w"
      $0.resource = try Google_Protobuf_Any(message: cluster())
    }
    #expect(try read(wrapper, .cluster).name == "w")
  }

  @Test func aNameThatOccursTwiceIsRefused() throws {
    let packed = try Google_Protobuf_Any(message: cluster())
    let reads = ResourceReader().read([packed, packed], of: .cluster)
    #expect(reads.allSatisfy { if case .failure = $0.result { true } else { false } })
  }

  @Test func aNameThatOccursInTwoSpellingsIsRefused() throws {
    let packed = try ["a=1&b=2", "b=2&a=1"].map { parameters in
      try Google_Protobuf_Any(
        message: Envoy_Config_Endpoint_V3_ClusterLoadAssignment.with {
          $0.clusterName = "xdstp://o/envoy.config.endpoint.v3.ClusterLoadAssignment/c?" + parameters
        }
      )
    }
    #expect(ResourceReader().read([packed[0]], of: .endpoints).allSatisfy { (try? $0.result.get()) != nil })
    #expect(ResourceReader().read(packed, of: .endpoints).allSatisfy { (try? $0.result.get()) == nil })
  }

  /// Whatever a control plane sends: it is read or refused, and nothing else happens.
  @Test func brokenResourcesAreRead() throws {
    let manager = try Google_Protobuf_Any(
      message: Envoy_Extensions_Filters_Network_HttpConnectionManager_V3_HttpConnectionManager.with {
        $0.rds.routeConfigName = "r"
        $0.rds.configSource.ads = .init()
        $0.httpFilters = [.with { $0.name = "router" }]
      }
    )
    let listener = Envoy_Config_Listener_V3_Listener.with {
      $0.name = "l"
      $0.apiListener.apiListener = manager
    }
    let all: [(ResourceType, [UInt8])] = [
      (.listener, try listener.serializedBytes()), (.routes, try routes { _ in }.serializedBytes()),
      (.routes, try routes { $0.match.safeRegex.regex = "(a|[b-d]{2,3})*\\.x" }.serializedBytes()),
      (.cluster, try cluster { $0.outlierDetection.interval.seconds = 3 }.serializedBytes()),
      (.endpoints, try endpoints([place("a", [1, 2]), place("b", [3], priority: 1)]).serializedBytes()),
    ]
    var dice = Dice(seed: 11)
    for (type, bytes) in all {
      for _ in 0..<3000 {
        var broken = bytes
        for _ in 0...dice.below(3) { broken[dice.below(broken.count)] = UInt8(dice.below(256)) }
        if dice.below(4) == 0 { broken.removeLast(dice.below(broken.count)) }
        let packed = Google_Protobuf_Any.with { ($0.typeURL, $0.value) = (type.typeURL, broken) }
        #expect(ResourceReader().read([packed], of: type).count == 1)
      }
    }
  }
}
