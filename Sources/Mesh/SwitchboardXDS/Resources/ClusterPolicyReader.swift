// text: names of members are our own, or keys of a map, which the message runtime bounds

import SwitchboardBalancing
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

/// Reads which policy a cluster has (gRFC A52): in the newer form, a list of extensions, or in the older one.
struct ClusterPolicyReader {
  /// Deeper nesting is refused.
  private static let depthLimit = 16
  private static let largestRing: UInt64 = 8_388_608

  private let policies: PolicyRegistry

  init(_ policies: PolicyRegistry) { self.policies = policies }

  func policy(of cluster: Envoy_Config_Cluster_V3_Cluster) throws(ResourceFault) -> ClusterResource.Policy {
    guard cluster.hasLoadBalancingPolicy else {
      return try part("lb_policy") { () throws(ResourceFault) in try older(cluster) }
    }
    return try part("load_balancing_policy") { () throws(ResourceFault) in
      try first(of: cluster.loadBalancingPolicy, depth: 0)
    }
  }

  /// The first policy that is known.
  private func first(
    of list: Envoy_Config_Cluster_V3_LoadBalancingPolicy,
    depth: Int
  ) throws(ResourceFault) -> ClusterResource.Policy {
    guard depth < Self.depthLimit else { throw ResourceFault("", "is nested deeper than \(Self.depthLimit)") }
    for (position, policy) in list.policies.enumerated() {
      let config = policy.typedExtensionConfig.typedConfig
      let found = try part("policies[\(position)]") { () throws(ResourceFault) in try read(config, depth) }
      if let found { return found }
    }
    let names = list.policies.prefix(8).map { ($0.typedExtensionConfig.typedConfig.typeName ?? "").excerpt }
    throw ResourceFault("policies", "has none that is supported: \(names.joined(separator: ", "))")
  }

  /// `nil` for a policy that is not known.
  private func read(_ config: Google_Protobuf_Any, _ depth: Int) throws(ResourceFault) -> ClusterResource
    .Policy?
  {
    if config.isA(Envoy_Extensions_LoadBalancingPolicies_WrrLocality_V3_WrrLocality.self) {
      let places = try config.contents(Envoy_Extensions_LoadBalancingPolicies_WrrLocality_V3_WrrLocality.self)
      guard case .whole(let child) = try first(of: places.endpointPickingPolicy, depth: depth + 1) else {
        throw ResourceFault("endpoint_picking_policy", "divides calls among places once more")
      }
      return .byLocality(child)
    }
    guard let single = try plain(config) else { return nil }
    return .whole([try checked(single)])
  }

  private func plain(_ config: Google_Protobuf_Any) throws(ResourceFault) -> LoadBalancingConfig? {
    if config.isA(Envoy_Extensions_LoadBalancingPolicies_RoundRobin_V3_RoundRobin.self) {
      return LoadBalancingConfig("round_robin")
    }
    if config.isA(Envoy_Extensions_LoadBalancingPolicies_PickFirst_V3_PickFirst.self) {
      let own = try config.contents(Envoy_Extensions_LoadBalancingPolicies_PickFirst_V3_PickFirst.self)
      return LoadBalancingConfig("pick_first", ["shuffleAddressList": .bool(own.shuffleAddressList)])
    }
    if config.isA(Envoy_Extensions_LoadBalancingPolicies_LeastRequest_V3_LeastRequest.self) {
      let own = try config.contents(Envoy_Extensions_LoadBalancingPolicies_LeastRequest_V3_LeastRequest.self)
      return try Self.leastRequest(own.hasChoiceCount ? own.choiceCount.value : nil)
    }
    if config.isA(Envoy_Extensions_LoadBalancingPolicies_RingHash_V3_RingHash.self) {
      let own = try config.contents(Envoy_Extensions_LoadBalancingPolicies_RingHash_V3_RingHash.self)
      guard own.hashFunction != .murmurHash2 else { throw ResourceFault("hash_function", "is not XX_HASH") }
      return try Self.ringHash(
        own.hasMinimumRingSize ? own.minimumRingSize.value : nil,
        own.hasMaximumRingSize ? own.maximumRingSize.value : nil
      )
    }
    if config.isA(
      Envoy_Extensions_LoadBalancingPolicies_ClientSideWeightedRoundRobin_V3_ClientSideWeightedRoundRobin.self
    ) {
      return try Self.weighted(try config.contents(Weighted.self))
    }
    return try typedStruct(config)
  }

  /// A policy that the program or its libraries have, by its name.
  private func typedStruct(_ config: Google_Protobuf_Any) throws(ResourceFault) -> LoadBalancingConfig? {
    guard let own = try config.typedStruct() else { return nil }
    guard policies.names.contains(where: { $0.isExactly(own.type) }) else { return nil }
    return LoadBalancingConfig(own.type, try ConfigValue.members(of: own.value))
  }

  /// Throws what the policy says of its configuration.
  private func checked(_ config: LoadBalancingConfig) throws(ResourceFault) -> LoadBalancingConfig {
    do throws(GRPCStatus) {
      _ = try policies.choose([config], at: config.policy)
      return config
    } catch {
      // The path of a list with this policy alone, of which nothing is in the resource.
      throw ResourceFault(error, within: "\(config.policy)[0].")
    }
  }

  private func older(_ cluster: Envoy_Config_Cluster_V3_Cluster) throws(ResourceFault)
    -> ClusterResource.Policy
  {
    switch cluster.lbPolicy {
    case .roundRobin: return .byLocality([LoadBalancingConfig("round_robin")])
    case .leastRequest:
      let own = cluster.leastRequestLbConfig
      return .byLocality([try Self.leastRequest(own.hasChoiceCount ? own.choiceCount.value : nil)])
    case .ringHash:
      let own = cluster.ringHashLbConfig
      guard own.hashFunction == .xxHash else { throw ResourceFault("", "the hash function is not XX_HASH") }
      return .whole([
        try Self.ringHash(
          own.hasMinimumRingSize ? own.minimumRingSize.value : nil,
          own.hasMaximumRingSize ? own.maximumRingSize.value : nil
        )
      ])
    default: throw ResourceFault("", "\(cluster.lbPolicy) is not supported")
    }
  }

  private static func leastRequest(_ choices: UInt32?) throws(ResourceFault) -> LoadBalancingConfig {
    let choices = choices ?? 2
    guard choices >= 2 else { throw ResourceFault("choice_count", "is below 2") }
    return LoadBalancingConfig("least_request_experimental", ["choiceCount": .number(Double(choices))])
  }

  private static func ringHash(_ smallest: UInt64?, _ largest: UInt64?) throws(ResourceFault)
    -> LoadBalancingConfig
  {
    let (smallest, largest) = (smallest ?? 1024, largest ?? largestRing)
    guard (1...largestRing).contains(largest) else {
      throw ResourceFault("maximum_ring_size", "is not from 1 to \(largestRing)")
    }
    guard (1...largest).contains(smallest) else {
      throw ResourceFault("minimum_ring_size", "is not from 1 to the maximum")
    }
    return LoadBalancingConfig(
      "ring_hash_experimental",
      ["minRingSize": .number(Double(smallest)), "maxRingSize": .number(Double(largest))]
    )
  }

  private typealias Weighted =
    Envoy_Extensions_LoadBalancingPolicies_ClientSideWeightedRoundRobin_V3_ClientSideWeightedRoundRobin

  private static func weighted(_ own: Weighted) throws(ResourceFault) -> LoadBalancingConfig {
    var members: [String: ConfigValue] = [:]
    func set(_ name: String, _ duration: Google_Protobuf_Duration, _ path: String, _ isSet: Bool)
      throws(ResourceFault)
    {
      if isSet { members[name] = .duration(try duration.length(path)) }
    }
    if own.hasEnableOobLoadReport { members["enableOobLoadReport"] = .bool(own.enableOobLoadReport.value) }
    try set("oobReportingPeriod", own.oobReportingPeriod, "oob_reporting_period", own.hasOobReportingPeriod)
    try set("blackoutPeriod", own.blackoutPeriod, "blackout_period", own.hasBlackoutPeriod)
    try set(
      "weightExpirationPeriod",
      own.weightExpirationPeriod,
      "weight_expiration_period",
      own.hasWeightExpirationPeriod
    )
    try set("weightUpdatePeriod", own.weightUpdatePeriod, "weight_update_period", own.hasWeightUpdatePeriod)
    if own.hasErrorUtilizationPenalty {
      members["errorUtilizationPenalty"] = .number(Double(own.errorUtilizationPenalty.value))
    }
    return LoadBalancingConfig("weighted_round_robin", members)
  }
}

extension ConfigValue {
  /// The same as a `Value`, whose depth the reader of messages has bounded.
  fileprivate init(_ value: Google_Protobuf_Value) throws(ResourceFault) {
    switch value.kind {
    case .nullValue, nil: self = .null
    case .numberValue(let number): self = .number(number)
    case .stringValue(let text): self = .string(text.isEmpty ? text : try text.name("value"))
    case .boolValue(let value): self = .bool(value)
    case .structValue(let object): self = .object(try Self.members(of: object))
    case .listValue(let list):
      var values: [ConfigValue] = []
      for value in list.values { values.append(try ConfigValue(value)) }
      self = .array(values)
    }
  }

  fileprivate static func members(
    of object: Google_Protobuf_Struct
  ) throws(ResourceFault) -> [String: ConfigValue] {
    var members: [String: ConfigValue] = [:]
    for (name, value) in object.fields { members[name] = try ConfigValue(value) }
    return members
  }

  /// As a message.
  var message: Google_Protobuf_Value {
    switch self {
    case .null: .with { $0.nullValue = .nullValue }
    case .bool(let value): .with { $0.boolValue = value }
    case .number(let number): .with { $0.numberValue = number }
    case .string(let text): .with { $0.stringValue = text }
    case .array(let values): .with { $0.listValue = .with { $0.values = values.map(\.message) } }
    case .object(let members): .with { $0.structValue = .with { $0.fields = members.mapValues(\.message) } }
    }
  }
}
