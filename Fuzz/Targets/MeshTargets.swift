import SwitchboardPatterns
import SwitchboardProtobuf
import SwitchboardText

@testable import SwitchboardBalancing
@testable import SwitchboardCall
@testable import SwitchboardXDS

/// What control planes send, the bootstrap that names them, and the patterns in what they send.
enum MeshTargets {
  static func listener(_ input: [UInt8]) throws { try resource(.listener, input) }
  static func routes(_ input: [UInt8]) throws { try resource(.routes, input) }
  static func cluster(_ input: [UInt8]) throws { try resource(.cluster, input) }
  static func endpoints(_ input: [UInt8]) throws { try resource(.endpoints, input) }

  /// A resource: it is refused for a reason, or a channel can use it.
  private static func resource(_ type: ResourceType, _ input: [UInt8]) throws {
    let packed = Google_Protobuf_Any.with { ($0.typeURL, $0.value) = (type.typeURL, input) }
    var reader = ResourceReader(certificateProviders: [ExactText("provider")])
    reader.isTrusted = true
    let reads = reader.read([packed], of: type)
    guard let read = reads.first, reads.count == 1 else {
      throw BrokenPromise(description: "\(reads.count) reads")
    }
    let again = reader.read([packed], of: type).first
    try BrokenPromise.unless(again?.result == read.result && again?.name == read.name, "two reads differ")
    try answer(read, type)
    guard case .success(let resource) = read.result else { return }
    try BrokenPromise.unless(read.name?.isEmpty == false, "a resource without a name is valid")
    switch resource {
    case .listener(let listener):
      if case .inline(let table) = listener.routes {
        try route(by: table, listener.filters, listener.session)
      }
    case .routes(let table): try route(by: table)
    case .cluster(let cluster):
      if case .aggregate = cluster.kind { return }
      let leaf = LeafConfig(cluster: cluster, endpoints: someEndpoints)
      var other = leaf
      other.cluster.name += "-"
      try balance([leaf])
      try balance([leaf, other])
    case .endpoints(let endpoints):
      for policy in [ClusterResource.Policy.byLocality([.init("round_robin")]), .whole([.init("ring_hash")])]
      {
        let cluster = ClusterResource(name: "c", kind: .endpoints("e"), policy: policy)
        try balance([LeafConfig(cluster: cluster, endpoints: endpoints)])
        try balance([LeafConfig(cluster: cluster, endpoints: endpoints.behindTheirProxies)])
      }
    }
  }

  /// What the control plane and the watch learn of a response with the resource.
  private static func answer(_ read: ResourceReader.Read, _ type: ResourceType) throws {
    var state = DiscoveryState(servers: [.init()], authorities: [ServerChoice([0])])
    let name = read.name ?? "name"
    _ = state.watch(ResourceKey(type, name), 1, of: 0)
    state.opened(0)
    _ = state.nextRequest(0)
    let actions = state.received(0, type, version: "2", nonce: "2", [read])
    let request = state.nextRequest(0)
    guard case .failure(let fault) = read.result else {
      try BrokenPromise.unless(request?.refusal == nil, "what is valid is refused")
      return try BrokenPromise.unless(
        state.resource(ResourceKey(type, name)) != nil,
        "what is valid is not used"
      )
    }
    try BrokenPromise.unless(!fault.reason.isEmpty, "a refusal has no reason")
    try BrokenPromise.unless((request?.refusal ?? "").utf8.count <= 4096, "a refusal is too long")
    try BrokenPromise.unless(request?.refusal != nil, "what is invalid is accepted")
    try BrokenPromise.unless(state.resource(ResourceKey(type, name)) == nil, "what is invalid is used")
    let tells = actions.contains { if case .tell = $0 { true } else { false } }
    try BrokenPromise.unless(read.name == nil || tells, "nobody is told of a refusal")
  }

  private static let methods = ["Get", "Expand"].map {
    MethodDescriptor(service: "echo.Echo", method: $0, type: .unary)
  }
  private static let metadata = HPACKHeaders([
    ("user", "ada"), ("number", "-12"), ("user", "bob"), ("x-envoy-fault-abort-request", "503"),
    ("cookie", "a=b; s=MTAuMC4wLjE6ODA7Yw=="), ("x-envoy-fault-delay-request", "5"),
    ("x-envoy-fault-delay-request-percentage", "50"),
  ])
  /// Of the listener, for routes that come without one.
  private static let someFilters = [FaultFilter(name: ExactText("fault"), rule: someRule)]
  private static let someSession = SessionFilter(
    name: ExactText("session"),
    rule: SessionRule(name: Array("s".utf8))
  )
  private static let someRule = FaultRule(
    abort: .ofMetadata,
    abortShare: .init(numerator: 100, scale: 10_000)
  )

  /// Each call has a route to one of the clusters that the channel then knows, or fails.
  private static func route(
    by table: RouteTable,
    _ filters: [FaultFilter] = someFilters,
    _ session: SessionFilter? = someSession
  ) throws {
    _ = table.host(for: "greeter.example")
    for host in table.virtualHosts {
      let router = MeshRouter(host, filters, session, maxStreamDuration: .seconds(1), channel: 7) { _ in
        ClusterLease {}
      }
      for method in methods {
        let result = Result { () throws(GRPCStatus) in try router.route(method, metadata) }
        switch result {
        case .success(let route):
          _ = route.hash?(metadata)
          let cookie = route.session?.cookie(from: "10.0.0.2:80")
          try BrokenPromise.unless(route.session == nil || cookie != nil, "a session without a cookie")
          for fault in route.faults?(metadata) ?? [] {
            try BrokenPromise.unless(fault.delay > .zero || fault.status != nil, "a fault without an effect")
          }
          try BrokenPromise.unless(host.clusters.contains(ExactText(route.child)), "a route to nowhere")
        case .failure(let status):
          try BrokenPromise.unless(status.code == .unavailable, "a call fails with \(status)")
        }
      }
    }
  }

  private static let someEndpoints = EndpointsResource(
    priorities: (0..<2).map { priority in
      [
        EndpointsResource.Place(
          name: "p\(priority)",
          weight: 3,
          endpoints: [Endpoint([.ipv4(0x7F00_0001, port: UInt16(80 + priority))])]
        )
      ]
    },
    drops: [EndpointsResource.Drop(category: "d", millionths: 10)]
  )

  /// The policies of a cluster accept what was found to be valid, and have a picker for calls.
  private static func balance(_ leaves: [LeafConfig]) throws {
    let host = UnconnectedHost()
    let balancer = ClusterManager(contexts: nil) { _ in nil }.makeBalancer(host)
    defer { balancer.shutDown() }
    for leaf in leaves {
      var names = PriorityNames()
      _ = try PolicyRegistry().choose([ClusterPlan(leaf, &names).policy], at: "c")
    }
    try balancer.update([], [ExactText("c"): .leaves(leaves, isAggregate: leaves.count > 1)])
    guard case .fail(let status)? = host.picker?.pick(RoutedCall(route: CallRoute(to: "c"))) else { return }
    let servers = leaves.compactMap(\.endpoints).flatMap(\.priorities).joined().flatMap(\.endpoints)
    try BrokenPromise.unless(servers.isEmpty, "there are servers, and calls fail: \(status)")
  }

  /// A bootstrap: it is refused for a reason, or all names of resources can be looked up.
  static func bootstrap(_ input: [UInt8]) throws {
    let bootstrap: XDSBootstrap
    do throws(GRPCStatus) {
      bootstrap = try XDSBootstrap(json: String(decoding: input, as: UTF8.self))
    } catch {
      let isExplained = error.code == .invalidArgument && error.message?.hasPrefix("xDS bootstrap: ") == true
      return try BrokenPromise.unless(isExplained, "a bootstrap is rejected with \(error)")
    }
    try BrokenPromise.unless(!bootstrap.servers.isEmpty, "there is no control plane")
    _ = bootstrap.node.message
    for owner in [""] + bootstrap.authorities.keys {
      let name = try bootstrap.listenerName(for: "a/b%s ", of: owner)
      if owner.isEmpty { continue }
      try BrokenPromise.unless(name.utf8.starts(with: "xdstp://".utf8), "the listener of an owner is \(name)")
    }
    try BrokenPromise.unless(ServerTable(bootstrap).authority(of: "xdstp:///x") == 0, "no control plane")
  }

  /// A pattern in the first line, a substitution in the second, and the text for both.
  static func pattern(_ input: [UInt8]) throws {
    let lines = input.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
    guard lines.count == 3 else { return }
    let text = Array(lines[2])
    let pattern: Pattern
    do throws(PatternError) {
      pattern = try Pattern(String(decoding: lines[0], as: UTF8.self))
    } catch { return try BrokenPromise.unless(!error.reason.isEmpty, "a refusal has no reason") }
    let matches = pattern.matches(text.span)
    try BrokenPromise.unless(pattern.matches(text.span) == matches, "a text matches only sometimes")
    guard let rewrite = try? Substitution(of: pattern, by: String(decoding: lines[1], as: UTF8.self)) else {
      return
    }
    let result = rewrite.applied(to: text.span)
    // A match at each place, and one at the end, each with all of the text in each two bytes of the rewrite.
    let each = max(Substitution.lengthLimit, lines[1].count / 2 * text.count)
    try BrokenPromise.unless(result.count <= text.count + (text.count + 1) * each, "\(result.count) bytes")
  }
}

/// A channel without connections.
private final class UnconnectedHost: BalancerHost {
  let policies = PolicyRegistry()
  let metrics: MetricScope? = nil
  let time: any BalancerTime = StoppedTime()
  private(set) var picker: (any Picker)?

  func random() -> UInt64 { 0x9E37_79B9_7F4A_7C15 }
  func resolveAgain() {}
  func warn(_ text: String) {}
  func update(_ state: ConnectivityState, _ picker: any Picker) { self.picker = picker }

  func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel { UnconnectedSubchannel() }
}

private final class UnconnectedSubchannel: Subchannel {
  let state = SubchannelState(.idle)
  func connect() {}
  func update(_ addresses: [EndpointAddress]) {}
  func reportLoad(every interval: Duration?) {}
  func shutDown() {}
}

private struct StoppedTime: BalancerTime {
  private final class Action: ScheduledAction { func cancel() {} }

  let now = Duration.seconds(1000)
  func schedule(after delay: Duration, _ action: @escaping () -> Void) -> any ScheduledAction { Action() }
}

private final class RoutedCall: CallToPick {
  let method = MethodDescriptor(service: "echo.Echo", method: "Get", type: .unary)
  let metadata = HPACKHeaders()
  let route: CallRoute?

  init(route: CallRoute) { self.route = route }
}
