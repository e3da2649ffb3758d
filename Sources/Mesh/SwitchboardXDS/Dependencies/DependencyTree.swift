import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// Finds out what a channel has to watch, and puts together what it learns: a config is whole, or there is none (gRFC A74).
///
/// A value: the caller tells it what has come, and asks what to watch now and what the config is.
struct DependencyTree: Sendable {
  /// What the channel uses.
  enum Outcome: Hashable, Sendable {
    /// Something that is named is not there yet: what was used before goes on.
    case incomplete
    case config(MeshConfig)
    /// There are no routes: calls fail.
    case failed(String)
  }

  /// Aggregates that contain each other deeper are refused.
  private static let depthLimit = 16
  /// How many clusters a cluster may lead to.
  private static let leafLimit = 4096
  /// How many names in aggregates, places and addresses a channel uses. What several clusters lead to counts for each of them:
  /// a few bytes of each may lead to the same large resource.
  static let sizeLimit = ResourceReader.countLimit

  private let listener: ResourceKey
  /// The name by which the routes are found.
  private let authority: String
  /// Whether the control plane says how servers are secured.
  private let usesClusterSecurity: Bool
  /// What is said with failures of calls although nothing has happened (gRFC A88); `nil`: nothing.
  private let usualNote: String?
  private var known: [ResourceKey: Result<Resource, GRPCStatus>] = [:]
  /// What has happened to resources that are still used.
  private var ambient: [ResourceKey: String] = [:]
  /// The servers of names, or why they were never found.
  private var found: [EndpointAddress: Result<EndpointsResource, GRPCStatus>] = [:]
  /// Clusters of routes that are used no more, but for calls that began with them.
  private var leased: Set<ExactText> = []

  /// `node` is the client's own name.
  init(listener: String, authority: String, node: String = "", usesClusterSecurity: Bool = false) {
    self.listener = ResourceKey(.listener, listener)
    self.authority = authority
    self.usesClusterSecurity = usesClusterSecurity
    usualNote = node.isEmpty ? nil : "xDS node ID: \(node.excerpt)"
  }

  /// Takes what has become of a resource. Returns whether that may change anything.
  mutating func received(_ key: ResourceKey, _ update: ResourceUpdate) -> Bool {
    switch update {
    case .resource(let result): (known[key], ambient[key]) = (result, nil)
    case .ambient(let status):
      let note = status.map { $0.message ?? "\($0.code)" }
      guard note != ambient[key] else { return false }
      ambient[key] = note
    }
    return true
  }

  /// Takes what was found of a name. Returns whether that may change anything: servers that were found once are used until others
  /// are found.
  mutating func received(_ name: EndpointAddress, _ result: Result<EndpointsResource, GRPCStatus>) -> Bool {
    if case .failure = result, case .success? = found[name] { return false }
    found[name] = result
    return true
  }

  mutating func lease(_ clusters: Set<ExactText>) { leased = clusters }

  /// What to watch, which names to look up, and what to use.
  struct Step {
    var watches: Set<ResourceKey>
    var names: Set<EndpointAddress>
    var outcome: Outcome
  }

  /// What a channel waits for before it has a config.
  enum Gap {
    /// A resource, and so many others.
    case resource(ResourceKey, others: Int)
    /// The servers of a name.
    case name(EndpointAddress)
  }

  /// The next step. What is not needed any more is forgotten.
  mutating func resolve() -> Step {
    var walk = Walk(self)
    let outcome = self.outcome(&walk)
    known = known.filter { walk.watches.contains($0.key) }
    ambient = ambient.filter { walk.watches.contains($0.key) }
    found = found.filter { walk.names.contains($0.key) }
    return Step(watches: walk.watches, names: walk.names, outcome: outcome)
  }

  /// What a step needs and does not have yet, for messages; `nil`: nothing.
  func gap(of step: Step) -> Gap? {
    let resources = step.watches.filter { known[$0] == nil }
    let names = step.names.filter { found[$0] == nil }
    let first = resources.min { $0.precedes($1) }
    return first.map { .resource($0, others: resources.count - 1) } ?? names.first.map { .name($0) }
  }

  private func outcome(_ walk: inout Walk) -> Outcome {
    let routes: RouteTable
    let duration: Duration?
    let filters: [FaultFilter]
    let session: SessionFilter?
    switch walk.pass(listener) {
    case nil: return .incomplete
    case .failure(let status): return .failed(status.message ?? "")
    case .success(.listener(let found)):
      (duration, filters, session) = (found.maxStreamDuration, found.filters, found.session)
      walk.keepsSessions = session != nil
      switch found.routes {
      case .ofServer: return .failed("the \(listener) is one of a server")
      case .inline(let table): routes = table
      case .named(let name):
        switch walk.pass(ResourceKey(.routes, name)) {
        case nil: return .incomplete
        case .failure(let status): return .failed(status.message ?? "")
        case .success(.routes(let table)): routes = table
        case .success: return .incomplete
        }
      }
    case .success: return .incomplete
    }
    guard let host = routes.host(for: authority) else {
      return .failed("no virtual host is for \(authority.excerpt)")
    }
    let (names, start) = (host.clusters.union(leased), walk)
    var clusters = walk.clusters(names)
    if walk.isFull {
      // There is room for the same ones each time.
      walk = start
      clusters = walk.clusters(names.sorted { $0.text.precedes($1.text) })
    }
    guard walk.isWhole else { return .incomplete }
    return .config(
      MeshConfig(
        host: host,
        filters: filters,
        session: session,
        maxStreamDuration: duration,
        clusters: clusters
      )
    )
  }

  /// A walk along what names what.
  private struct Walk {
    private let known: [ResourceKey: Result<Resource, GRPCStatus>]
    private let ambient: [ResourceKey: String]
    private let found: [EndpointAddress: Result<EndpointsResource, GRPCStatus>]
    private let usesClusterSecurity: Bool
    private let usualNote: String?
    /// What leads to the clusters: the listener, and routes of their own.
    private var way: [ResourceKey] = []
    private(set) var watches: Set<ResourceKey> = []
    private(set) var names: Set<EndpointAddress> = []
    private(set) var isWhole = true
    /// Whether calls may belong to sessions.
    var keepsSessions = false
    /// What may still be used.
    private var room = DependencyTree.sizeLimit
    /// Whether something had no room.
    private(set) var isFull = false

    init(_ tree: DependencyTree) {
      known = tree.known
      ambient = tree.ambient
      found = tree.found
      usesClusterSecurity = tree.usesClusterSecurity
      usualNote = tree.usualNote
    }

    /// What has happened to the resources that a cluster depends on, or else the usual note.
    private func note(of cluster: ClusterResource) -> String? {
      guard !ambient.isEmpty else { return usualNote }
      var keys = way + [ResourceKey(.cluster, cluster.name)]
      if case .endpoints(let name) = cluster.kind { keys.append(ResourceKey(.endpoints, name)) }
      var notes: [String] = []
      for case let note? in keys.map({ ambient[$0] }) where !notes.contains(note) { notes.append(note) }
      return notes.isEmpty ? usualNote : notes.joined(separator: "; ")
    }

    /// What is known of a resource on the way to the clusters.
    mutating func pass(_ key: ResourceKey) -> Result<Resource, GRPCStatus>? {
      way.append(key)
      return look(key)
    }

    /// What is known of a resource, which is needed.
    mutating func look(_ key: ResourceKey) -> Result<Resource, GRPCStatus>? {
      watches.insert(key)
      if known[key] == nil { isWhole = false }
      return known[key]
    }

    mutating func clusters(_ names: some Sequence<ExactText>) -> [ExactText: ClusterConfig] {
      var clusters: [ExactText: ClusterConfig] = [:]
      for name in names { clusters[name] = cluster(name) }
      return clusters
    }

    /// Returns whether so much can be used.
    private mutating func take(_ size: Int) -> Bool {
      guard size <= room else {
        isFull = true
        return false
      }
      room -= size
      return true
    }

    private mutating func cluster(_ name: ExactText) -> ClusterConfig? {
      guard let result = look(ResourceKey(.cluster, name.text)) else { return nil }
      guard case .success(.cluster(let cluster)) = result else {
        guard case .failure(let status) = result else { return nil }
        return .failed(status.message ?? "")
      }
      var seen: Set<ExactText> = []
      var leaves: [LeafConfig] = []
      guard case .aggregate = cluster.kind else {
        if let fault = add(cluster, to: &leaves) { return .failed(fault) }
        return leaves.isEmpty ? nil : .leaves(leaves, isAggregate: false)
      }
      if let fault = collect(cluster, depth: 1, &seen, &leaves) { return .failed(fault) }
      return .leaves(leaves, isAggregate: true)
    }

    /// Collects the clusters with servers that an aggregate leads to, each once, in order. Returns why that cannot be.
    private mutating func collect(
      _ cluster: ClusterResource,
      depth: Int,
      _ seen: inout Set<ExactText>,
      _ leaves: inout [LeafConfig]
    ) -> String? {
      guard seen.insert(cluster.name) else { return nil }
      guard depth <= DependencyTree.depthLimit, seen.count <= DependencyTree.leafLimit else {
        return "the cluster \(cluster.name.excerpt) leads to too many others, or too deep"
      }
      guard case .aggregate(let names) = cluster.kind else { return add(cluster, to: &leaves) }
      for name in names {
        guard take(1) else { return Self.noRoom }
        // One that there is not is left out.
        guard case .success(.cluster(let child))? = look(ResourceKey(.cluster, name)) else { continue }
        if let fault = collect(child, depth: depth + 1, &seen, &leaves) { return fault }
      }
      return nil
    }

    private static let noRoom =
      "the clusters of the channel lead to more than \(DependencyTree.sizeLimit) clusters, places and addresses"

    /// Adds a cluster with its servers, unless they are not known yet. Returns why that cannot be.
    private mutating func add(_ cluster: ClusterResource, to leaves: inout [LeafConfig]) -> String? {
      guard var leaf = leaf(cluster) else { return nil }
      guard take(leaf.endpoints?.size ?? 0) else { return Self.noRoom }
      // Not before there is room: that goes over all endpoints.
      leaf.keepsSessions = keepsSessions
      leaf.ambient = note(of: cluster)
      if cluster.usesProxies { leaf.endpoints = leaf.endpoints?.behindTheirProxies }
      if usesClusterSecurity, cluster.security?.sendsHosts == true {
        leaf.endpoints = leaf.endpoints?.securedByTheirHosts
      }
      leaves.append(leaf)
      return nil
    }

    /// `nil` while its servers are not known.
    private mutating func leaf(_ cluster: ClusterResource) -> LeafConfig? {
      switch cluster.kind {
      case .aggregate: return nil
      case .endpoints(let name):
        switch look(ResourceKey(.endpoints, name)) {
        case .success(.endpoints(let endpoints)): return LeafConfig(cluster: cluster, endpoints: endpoints)
        case .failure(let status): return LeafConfig(cluster: cluster, note: status.message)
        case .success, nil: return nil
        }
      case .name(let name):
        names.insert(name)
        switch found[name] {
        case .success(let endpoints): return LeafConfig(cluster: cluster, endpoints: endpoints)
        case .failure(let status): return LeafConfig(cluster: cluster, note: status.message)
        case nil:
          isWhole = false
          return nil
        }
      }
    }
  }
}
