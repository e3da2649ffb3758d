import Foundation
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText
import Testing
import XDSMessages

@testable import SwitchboardXDS

/// Random updates, removals, faults and failures of the stream, in the bytes of a control plane, against a model of what a channel
/// may use. `MESH_STEPS` says how many; `MESH_SEED` repeats a failure.
@Suite struct MeshModelTests {
  private static let stepsOfALife = 100

  @Test func aChannelUsesWhatTheModelSays() throws {
    let environment = ProcessInfo.processInfo.environment
    let steps = environment["MESH_STEPS"].flatMap(Int.init) ?? 6000
    let first = environment["MESH_SEED"].flatMap(UInt64.init) ?? 1
    var uses = 0
    var falls = 0
    for life in 0..<UInt64(max(1, steps / Self.stepsOfALife)) {
      var channel = MeshLife(seed: first &+ life)
      for _ in 0..<Self.stepsOfALife where channel.fault == nil { try channel.step() }
      if channel.fault == nil { try channel.settle() }
      if let fault = channel.fault {
        Issue.record("MESH_SEED=\(first &+ life): \(fault), after:\n\(channel.steps.joined(separator: "\n"))")
        return
      }
      uses += channel.uses
      falls += channel.falls
    }
    // A check in which nothing happens proves nothing.
    #expect(uses >= steps / 100 && falls >= steps / 500, "\(uses) configs were used, and \(falls) given up")
  }
}

/// A resource as the model has it.
private enum Thing: Equatable {
  case listener(routes: String)
  case routes(clusters: [String], isOurs: Bool)
  case aggregate([String])
  case cluster(endpoints: String)
  case endpoints(number: Int)

  func message(named name: String) -> any Message {
    switch self {
    case .listener(let routes):
      Envoy_Config_Listener_V3_Listener.with {
        $0.name = name
        if let manager = try? Google_Protobuf_Any(message: Self.manager(routes)) {
          $0.apiListener.apiListener = manager
        }
      }
    case .routes(let clusters, let isOurs):
      Envoy_Config_Route_V3_RouteConfiguration.with {
        $0.name = name
        $0.virtualHosts = [
          .with {
            $0.domains = [isOurs ? "*" : "other"]
            $0.routes = clusters.map { cluster in
              .with {
                $0.match.prefix = ""
                $0.route.cluster = cluster
              }
            }
          }
        ]
      }
    case .aggregate(let names):
      Envoy_Config_Cluster_V3_Cluster.with {
        $0.name = name
        $0.clusterType.name = "envoy.clusters.aggregate"
        let config = Envoy_Extensions_Clusters_Aggregate_V3_ClusterConfig.with { $0.clusters = names }
        if let packed = try? Google_Protobuf_Any(message: config) { $0.clusterType.typedConfig = packed }
      }
    case .cluster(let endpoints):
      Envoy_Config_Cluster_V3_Cluster.with {
        $0.name = name
        $0.type = .eds
        $0.edsClusterConfig.edsConfig.ads = .init()
        $0.edsClusterConfig.serviceName = endpoints
      }
    case .endpoints(let number):
      Envoy_Config_Endpoint_V3_ClusterLoadAssignment.with {
        $0.clusterName = name
        $0.policy.dropOverloads = [
          .with {
            $0.dropPercentage.numerator = UInt32(number)
            $0.dropPercentage.denominator = .million
          }
        ]
      }
    }
  }

  private typealias Manager =
    Envoy_Extensions_Filters_Network_HttpConnectionManager_V3_HttpConnectionManager

  private static func manager(_ routes: String) -> Manager {
    .with {
      $0.rds.routeConfigName = routes
      $0.rds.configSource.ads = .init()
      $0.httpFilters = [
        .with {
          $0.name = "router"
          $0.typedConfig.typeURL = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"
        }
      ]
    }
  }
}

/// What a channel uses, of which only names and numbers count: for each cluster its servers' clusters, in order, and the number of
/// their endpoints. `nil`: the cluster, or the endpoints, cannot be had.
private typealias Usage = [String: [Leaf]?]

private struct Leaf: Equatable {
  let cluster: String
  let number: Int?
}

/// What is known by a model that is too simple to be wrong.
private struct MeshModel {
  /// The last valid one of each resource that is needed; `nil` for one that cannot be had.
  var known: [ResourceKey: Thing?] = [:]
  /// Those of which the control plane has said last why it does not send them.
  var withheld: Set<ResourceKey> = []
  var leased: Set<String> = []

  /// All that is needed, whether all of it is known, and what is used then; `nil` if there are no routes.
  func walk() -> (needed: Set<ResourceKey>, isWhole: Bool, usage: Usage?) {
    var needed: Set<ResourceKey> = []
    func look(_ type: ResourceType, _ name: String) -> Thing? {
      let key = ResourceKey(type, name)
      needed.insert(key)
      return known[key] ?? nil
    }
    func isWhole() -> Bool { needed.allSatisfy { known[$0] != nil } }
    guard case .listener(let table)? = look(.listener, "l") else { return (needed, isWhole(), nil) }
    guard case .routes(let names, true)? = look(.routes, table) else { return (needed, isWhole(), nil) }
    func leaves(_ name: String, _ seen: inout Set<String>) -> [Leaf]? {
      guard seen.insert(name).inserted else { return [] }
      switch look(.cluster, name) {
      case .aggregate(let parts)?: return parts.flatMap { leaves($0, &seen) ?? [] }
      case .cluster(let endpoints)?:
        guard case .endpoints(let number)? = look(.endpoints, endpoints) else {
          return [Leaf(cluster: name, number: nil)]
        }
        return [Leaf(cluster: name, number: number)]
      default: return nil
      }
    }
    var usage: Usage = [:]
    for name in leased.union(names) {
      var seen: Set<String> = []
      usage[name] = .some(leaves(name, &seen))
    }
    return (needed, isWhole(), usage)
  }
}

/// A channel, the control plane that it asks, and the model of both.
private struct MeshLife {
  private var dice: Dice
  private var state: DiscoveryState
  private var tree = DependencyTree(listener: "l", authority: "name")
  private var model = MeshModel()
  private let dropsFaults: Bool
  private var watches: [ResourceKey: Int] = [:]
  private var timers: [Int: ResourceKey] = [:]
  private var isOpen = false
  private var hasServed = false
  /// Whether the latest stream that ended had brought nothing, and none has since.
  private var isLost = false
  private var count = 0
  /// What the channel and the model use now: `nil` is for nothing yet, or for no routes.
  private var used: (ours: Usage?, models: Usage?)
  private(set) var steps: [String] = []
  private(set) var fault: String?
  private(set) var uses = 0
  private(set) var falls = 0
  private let reader = ResourceReader()

  init(seed: UInt64) {
    dice = Dice(seed: seed)
    dropsFaults = dice.below(2) == 0
    state = DiscoveryState(features: dropsFaults ? [.failOnDataErrors] : [])
    refresh()
  }

  // MARK: What happens

  mutating func step() throws {
    count += 1
    switch dice.below(16) {
    case 0, 1: open()
    case 2:
      guard isOpen else { return }
      steps.append("connected")
      take(state.connected())
    case 3: if dice.below(3) == 0 { end() }
    case 4:
      guard let timer = timers.keys.min(), let key = timers.removeValue(forKey: timer) else { return }
      steps.append("time is up for \(key)")
      model.known[key] = .some(nil)
      take(state.timeIsUp(key, timer))
    case 5:
      // Calls that began with a route keep its clusters.
      model.leased = Set((0..<dice.below(3)).map { _ in "c\(dice.below(5))" })
      steps.append("calls keep \(model.leased.sorted())")
      tree.lease(Set(model.leased.map { ExactText($0) }))
    default: try respond(ResourceType.allCases[dice.below(4)])
    }
    refresh()
  }

  /// The control plane answers all, and nothing is wrong any more: the channel uses what the control plane has.
  mutating func settle() throws {
    model.leased = []
    tree.lease([])
    open()
    refresh()
    for _ in 0..<20 {
      for type in ResourceType.allCases {
        try respond(type, isHonest: true)
        refresh()
      }
    }
    let (_, isWhole, usage) = model.walk()
    if fault == nil, !isWhole || usage == nil || used.ours != usage {
      fault = "not all that there is, is used"
    }
  }

  private mutating func open() {
    guard !isOpen else { return }
    steps.append("opened")
    (isOpen, hasServed) = (true, false)
    state.opened()
    while state.nextRequest() != nil {}
  }

  private mutating func end() {
    guard isOpen else { return }
    steps.append("ended")
    isOpen = false
    // What was never known cannot be had, unless the stream has served.
    if !hasServed {
      isLost = true
      for key in watches.keys where (model.known[key] ?? nil) == nil { model.known[key] = .some(nil) }
    }
    take(state.ended(GRPCStatus(code: .unavailable, message: "lost")))
    if !timers.isEmpty { fault = "a timer outlives its stream" }
  }

  private mutating func names(_ prefix: String, _ most: Int, of choice: Int) -> [String] {
    (0..<dice.below(most + 1)).map { _ in "\(prefix)\(dice.below(choice))" }
  }

  private mutating func thing(_ type: ResourceType, isHonest: Bool) -> Thing {
    switch type {
    case .listener: .listener(routes: "r\(dice.below(2))")
    case .routes:
      .routes(
        clusters: names("c", 2, of: 5) + ["c\(dice.below(5))"],
        isOurs: isHonest || dice.below(5) > 0
      )
    case .cluster:
      dice.below(3) == 0
        ? .aggregate(names("c", 2, of: 5) + ["c\(dice.below(5))"]) : .cluster(endpoints: "e\(dice.below(3))")
    case .endpoints: .endpoints(number: 1 + dice.below(1000))
    }
  }

  /// A response, with resources that are asked for: valid, broken, or left out.
  private mutating func respond(_ type: ResourceType, isHonest: Bool = false) throws {
    guard isOpen else { return }
    (hasServed, isLost) = (true, false)
    var resources: [Google_Protobuf_Any] = []
    var errors: [Envoy_Service_Discovery_V3_ResourceError] = []
    var said: [String] = []
    for key in watches.keys.filter({ $0.type == type }).sorted(by: { $0.name.text < $1.name.text }) {
      let before = model.known[key] ?? nil
      switch isHonest ? 9 : dice.below(9) {
      case 4:
        let isOfData = dice.below(2) == 0
        errors.append(
          .with {
            $0.resourceName.name = key.name.text
            $0.errorDetail.code = Int32((isOfData ? GRPCStatus.Code.notFound : .unavailable).rawValue)
          }
        )
        said.append("\(key.name.text) withheld\(isOfData ? "" : " for now")")
        if before == nil || dropsFaults && isOfData { model.known[key] = .some(nil) }
        model.withheld.insert(key)
      case 1:
        model.withheld.remove(key)
        resources.append(try broken(key))
        said.append("\(key.name.text) broken")
        if dropsFaults || before == nil { model.known[key] = .some(nil) }
      case 0, 2, 3:
        said.append("no \(key.name.text)")
        // One whose name is not known is none of those that are asked for.
        if dice.below(2) == 0 { resources.append(Google_Protobuf_Any.with { $0.typeURL = type.typeURL }) }
        guard type.isWhole, dropsFaults, before != nil, !model.withheld.contains(key) else { continue }
        model.known[key] = .some(nil)
      default:
        // What an honest control plane has does not change.
        var fixed = isHonest ? before ?? thing(type, isHonest: true) : thing(type, isHonest: false)
        if isHonest, case .routes(_, false) = fixed { fixed = thing(type, isHonest: true) }
        resources.append(try Google_Protobuf_Any(message: fixed.message(named: key.name.text)))
        said.append("\(key.name.text) \(fixed)")
        model.known[key] = fixed
        model.withheld.remove(key)
      }
    }
    // Some control planes send more than they were asked for.
    if dice.below(4) == 0 {
      resources.append(
        try Google_Protobuf_Any(message: thing(type, isHonest: false).message(named: "unasked"))
      )
    }
    steps.append("\(type): \(said.joined(separator: ", "))")
    let reads = reader.read(resources, of: type)
    take(state.received(type, version: "v\(count)", nonce: "\(count)", reads, reader.read(errors)))
  }

  private mutating func broken(_ key: ResourceKey) throws -> Google_Protobuf_Any {
    let name = key.name.text
    return switch key.type {
    case .listener: try Google_Protobuf_Any(message: Thing.listener(routes: "").message(named: name))
    case .routes:
      try Google_Protobuf_Any(message: Thing.routes(clusters: ["c0", ""], isOurs: true).message(named: name))
    case .cluster:
      try Google_Protobuf_Any(message: Envoy_Config_Cluster_V3_Cluster.with { $0.name = name })
    case .endpoints:
      try Google_Protobuf_Any(
        message: Envoy_Config_Endpoint_V3_ClusterLoadAssignment.with {
          $0.clusterName = name
          $0.endpoints = [
            .with {
              $0.priority = 7
              $0.loadBalancingWeight.value = 1
            }
          ]
        }
      )
    }
  }

  // MARK: What the channel makes of it

  private mutating func take(_ actions: [DiscoveryState.Action]) {
    while state.nextRequest() != nil {}
    for action in actions {
      switch action {
      case .tell(let ids, let update):
        for (key, id) in watches where ids.contains(id) { _ = tree.received(key, update) }
      case .startTimer(let key, let timer, _): timers[timer] = key
      case .cancelTimer(let timer): timers[timer] = nil
      case .open, .close, .log: break
      }
    }
  }

  /// Watches what is needed and uses what is whole, as a channel does, and compares that with the model.
  private mutating func refresh() {
    var step = tree.resolve()
    while watch(step.watches) { step = tree.resolve() }
    let (needed, isWhole, usage) = model.walk()
    model.known = model.known.filter { needed.contains($0.key) }
    model.withheld.formIntersection(needed)
    if step.watches != needed {
      fault = "\(step.watches) is watched, and \(needed) is needed"
      return
    }
    let before = used
    switch step.outcome {
    case .incomplete: break
    case .failed: used.ours = nil
    case .config(let config): used.ours = Self.usage(config)
    }
    if isWhole { used.models = usage }
    if used.ours != used.models {
      fault = "\(String(describing: used.ours)) is used in place of \(String(describing: used.models))"
    }
    if used.ours != before.ours { if used.ours == nil { falls += 1 } else { uses += 1 } }
  }

  private mutating func watch(_ wanted: Set<ResourceKey>) -> Bool {
    var hasNews = false
    for (key, id) in watches where !wanted.contains(key) {
      watches[key] = nil
      timers = timers.filter { $0.value != key }
      take(state.unwatch(key, id))
    }
    for key in wanted where watches[key] == nil {
      count += 1
      watches[key] = count
      if isLost { model.known[key] = .some(nil) }
      let actions = state.watch(key, count)
      if actions.contains(where: { if case .tell = $0 { true } else { false } }) { hasNews = true }
      take(actions)
    }
    return hasNews
  }

  private static func usage(_ config: MeshConfig) -> Usage {
    var usage: Usage = [:]
    for (name, cluster) in config.clusters {
      switch cluster {
      case .failed: usage[name.text] = .some(nil)
      case .leaves(let leaves, _):
        usage[name.text] = leaves.map {
          Leaf(cluster: $0.cluster.name, number: $0.endpoints?.drops.first?.millionths)
        }
      }
    }
    return usage
  }
}
