// text: names of places have no long runs of marks, since others are refused

import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// The tree of policies of a cluster, and the endpoints with their places in it: priorities, below them places, below those the
/// cluster's own policy.
struct ClusterPlan {
  private(set) var policy = LoadBalancingConfig("priority_experimental")
  private(set) var endpoints: [Endpoint] = []

  init(_ leaf: LeafConfig, _ names: inout PriorityNames) {
    var children: [String: ConfigValue] = [:]
    var order: [ConfigValue] = []
    names.start()
    for places in leaf.endpoints?.priorities ?? [] {
      let name = names.name(places)
      var child: [String: ConfigValue] = ["config": .array([Self.child(leaf.cluster.policy, places)])]
      // Servers of the control plane that do not work are no reason to look names up.
      if case .endpoints = leaf.cluster.kind { child["ignoreReresolutionRequests"] = .bool(true) }
      children[name] = .object(child)
      order.append(.string(name))
      add(places, of: leaf.cluster, at: name)
    }
    self.policy = LoadBalancingConfig(
      "priority_experimental",
      ["children": .object(children), "priorities": .array(order)]
    )
  }

  private static func child(
    _ policy: ClusterResource.Policy,
    _ places: [EndpointsResource.Place]
  ) -> ConfigValue {
    switch policy {
    case .whole(let configs): return configs.first?.value ?? .null
    case .byLocality(let configs):
      var targets: [String: ConfigValue] = [:]
      for place in places {
        targets[place.name] = .object([
          "weight": .number(Double(place.weight)), "childPolicy": .array(configs.map(\.value)),
        ])
      }
      return .object(["weighted_target_experimental": .object(["targets": .object(targets)])])
    }
  }

  private mutating func add(
    _ places: [EndpointsResource.Place],
    of cluster: ClusterResource,
    at name: String
  ) {
    for place in places {
      place.endpoints.forEachRun { attributes, run in
        var planned = attributes
        // For metrics (gRFC A89).
        planned[EndpointBackendService.self] = cluster.name
        switch cluster.policy {
        case .byLocality: planned[EndpointPath.self] = [name, place.name]
        case .whole:
          planned[EndpointPath.self] = [name]
          // The share of the place counts in the endpoint's.
          let own = UInt64(attributes[EndpointWeight.self] ?? 1)
          planned[EndpointWeight.self] = UInt32(clamping: own * UInt64(place.weight))
        }
        endpoints.append(run, of: place.endpoints, with: planned)
      }
    }
  }
}

extension LoadBalancingConfig {
  /// As in a service config.
  fileprivate var value: ConfigValue { .object([policy: .object(members)]) }
}

/// The names of priorities. One that has a place of an earlier one keeps its name, so that connections stay when places move from
/// one priority to another.
struct PriorityNames {
  private struct Known {
    let name: String
    let places: Set<ExactText>
  }

  private var before: [(known: Known, isTaken: Bool)] = []
  /// The earlier priorities with a place, the first one last.
  private var byPlace: [ExactText: [Int]] = [:]
  private var now: [Known] = []
  private var last = 0

  /// Another config begins.
  mutating func start() {
    before = now.map { ($0, false) }
    (now, byPlace) = ([], [:])
    for (index, (known, _)) in before.enumerated().reversed() {
      for place in known.places { byPlace[place, default: []].append(index) }
    }
  }

  /// The first earlier priority with this place that is not taken.
  private mutating func earlier(_ place: ExactText) -> Int? {
    while let index = byPlace[place]?.last {
      if !before[index].isTaken { return index }
      byPlace[place]?.removeLast()
    }
    return nil
  }

  /// The name of the next priority.
  mutating func name(_ places: [EndpointsResource.Place]) -> String {
    let places = Set(places.map { ExactText($0.name) })
    let index = places.compactMap { earlier($0) }.min()
    let name: String
    if let index {
      before[index].isTaken = true
      name = before[index].known.name
    } else {
      last += 1
      name = "priority-\(last)"
    }
    now.append(Known(name: name, places: places))
    return name
  }
}
