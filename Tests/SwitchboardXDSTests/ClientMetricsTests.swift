import CallTestSupport
import SwitchboardBalancing
import SwitchboardCall
import SwitchboardTelemetry
import SwitchboardText
import TestSupport
import Testing

@testable import SwitchboardXDS

/// What a client of a control plane records (gRFC A78).
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ClientMetricsTests {
  private func telemetry(_ enabled: Set<String> = ["grpc.xds_client.*"]) throws -> Telemetry {
    var options = TelemetryOptions(serviceName: "test")
    options.metrics.enabled = enabled
    options.logger = .quiet
    return try Telemetry(options)
  }

  /// A mesh whose cluster is invalid if its policy is.
  private func mesh(_ port: Int, version: String = "1", policy: String = "ROUND_ROBIN") -> Mesh {
    var mesh = Mesh("greeter", version: version, routes: [Mesh.route(to: "one")], clusters: [:])
    mesh.clusters = [Mesh.cluster("one", more: ["lbPolicy": policy])]
    mesh.endpoints = [Mesh.assignment("one", ports: [port])]
    return mesh
  }

  @Test func whatAClientDoesIsRecorded() async throws {
    let telemetry = try telemetry()
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(mesh(ports[0]))
      let server = "grpc_xds_server=\"127.0.0.1:\(plane.port)\""
      let cluster = "grpc_xds_resource_type=\"envoy.config.cluster.v3.Cluster\""
      try await withMeshClient(
        "xds:///greeter",
        plane.bootstrap,
        { $0.observer = telemetry.observer() }
      ) { client async throws in
        #expect(try await client.server() == "s0")
        #expect(telemetry.value("connected", server) == 1)
        for type in [
          "listener.v3.Listener", "route.v3.RouteConfiguration", "cluster.v3.Cluster",
          "endpoint.v3.ClusterLoadAssignment",
        ] {
          let type = "grpc_xds_resource_type=\"envoy.config.\(type)\""
          #expect(telemetry.value("resource_updates_valid_total", server, type) == 1)
          #expect(telemetry.value("resources", type, "\"acked\"", "grpc_xds_authority=\"#old\"") == 1)
          #expect(telemetry.value("resources", type, "\"requested\"") == 0)
        }
        // It is refused, and the old one is used.
        try plane.set(mesh(ports[0], version: "2", policy: "MAGLEV"))
        try plane.next("refused", "clusters")
        #expect(telemetry.value("resource_updates_valid_total", server, cluster) == 1)
        #expect(telemetry.value("resource_updates_invalid_total", server, cluster) == 1)
        #expect(telemetry.value("resources", cluster, "\"acked\"") == 0)
        #expect(telemetry.value("resources", cluster, "\"nacked_but_cached\"") == 1)
        #expect(telemetry.value("server_failure_total", server) == nil)
        plane.kill()
        try await telemetry.waitFor("connected", 0)
        #expect(telemetry.value("server_failure_total", server) == 1)
      }
      // The client goes with its channel.
      try await telemetry.waitFor("resources", 0, cluster, "\"nacked_but_cached\"")
      #expect(telemetry.value("resource_updates_valid_total", "grpc_target=\"xds:///greeter\"", cluster) == 1)
    }
    await telemetry.shutDown()
  }

  /// One that is not asked any more is not connected, and has not failed.
  @Test func eachControlPlaneHasItsOwnMetrics() async throws {
    let telemetry = try telemetry()
    try await withMesh(servers: 1) { first, ports async throws in
      let second = try PlanePeer()
      try second.set(mesh(ports[0]))
      first.kill()
      var bootstrap = first.bootstrap
      bootstrap.servers += second.bootstrap.servers
      let (one, other) = (
        "grpc_xds_server=\"127.0.0.1:\(first.port)\"", "grpc_xds_server=\"127.0.0.1:\(second.port)\""
      )
      try await withMeshClient(
        "xds:///greeter",
        bootstrap,
        { $0.observer = telemetry.observer() }
      ) { client async throws in
        #expect(try await client.server() == "s0")
        #expect(telemetry.value("connected", one) == 0 && telemetry.value("connected", other) == 1)
        #expect(telemetry.value("server_failure_total", one) == 1)
        #expect(telemetry.value("resource_updates_valid_total", one) == nil)
        #expect(telemetry.value("resource_updates_valid_total", other) == 1)
        let again = try PlanePeer(port: first.port)
        try again.set(mesh(ports[0]))
        try await telemetry.waitFor("connected", 1, one)
        try await telemetry.waitFor("connected", 0, other)
        #expect(telemetry.value("server_failure_total", other) == nil)
      }
    }
    await telemetry.shutDown()
  }

  @Test func nothingIsRecordedByDefault() async throws {
    let telemetry = try telemetry([])
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(mesh(ports[0]))
      try await withMeshClient(
        "xds:///greeter",
        plane.bootstrap,
        { $0.observer = telemetry.observer() }
      ) { client async throws in
        #expect(try await client.server() == "s0")
        #expect(!telemetry.metricsText().text.contains("xds_client"))
        #expect(telemetry.metricsText().text.contains("grpc_client_attempt_started"))
      }
    }
    #expect(DiscoveryMeter(telemetry.metrics.scope(), "plane") == nil)
    await telemetry.shutDown()
  }

  /// A failure is one until a response comes, however often the stream is opened.
  @Test func aControlPlaneFailsOnce() throws {
    let telemetry = try telemetry()
    let meter = try #require(DiscoveryMeter(telemetry.metrics.scope(), "plane"))
    var tally = DiscoveryTally()
    func record() { if let news = tally.take() { meter.record(news) } }
    tally.opened()
    record()
    #expect(telemetry.value("connected", "grpc_xds_server=\"plane\"") == 1)
    for _ in 0..<3 {
      tally.failed()
      tally.opened()
      record()
      #expect(telemetry.value("connected") == 0 && telemetry.value("server_failure_total") == 1)
    }
    tally.received(.cluster, [])
    record()
    #expect(telemetry.value("connected") == 1)
    tally.failed()
    record()
    #expect(telemetry.value("connected") == 0 && telemetry.value("server_failure_total") == 2)
    if tally.take() != nil { Issue.record("it was recorded") }
  }

  @Test func resourcesAreCountedByWhatIsKnownOfThem() {
    let key = ResourceKey(.cluster, "xdstp://owner/envoy.config.cluster.v3.Cluster/a")
    let version = ResourceRecord.Version(name: "1", contents: .init(), time: .init())
    let records: [(ResourceRecord, CacheState)] = [
      (.init(), .requested), (.init(status: .missing), .missing), (.init(status: .late), .late),
      (.init(status: .refused), .refused), (.init(status: .accepted, used: version), .accepted),
      (.init(status: .refused, used: version), .refusedButUsed),
      (.init(status: .missing, used: version), .missingButUsed),
    ]
    var (counts, last) = (ResourceCounts(), ResourceRecord?.none)
    for (record, state) in records {
      counts.move(key, from: last, to: record)
      let group = ResourceCounts.Group(type: .cluster, authority: ExactText("owner"), state: state)
      #expect(counts.groups.filter { $0.value != 0 } == [group: 1])
      last = record
    }
    counts.move(key, from: last, to: nil)
    #expect(counts.groups.values.allSatisfy { $0 == 0 })
  }

  /// What one records is not the other's.
  @Test func channelsWithDifferentTelemetryHaveDifferentClients() throws {
    let bootstrap = XDSBootstrap(
      servers: [XDSBootstrap.Server("127.0.0.1:1", security: .plaintext)],
      node: XDSBootstrap.Node(id: "n")
    )
    let pool = XDSClientPool()
    let (first, second) = (try telemetry(), try telemetry())
    func client(_ telemetry: Telemetry?) -> XDSClient {
      var environment = XDSEnvironment()
      environment.metrics = telemetry?.metrics.scope()
      return pool.client(bootstrap, for: "xds:///a", environment)
    }
    let (one, other, none) = (client(first), client(second), client(nil))
    #expect(one !== other && other !== none && one !== none)
    #expect(client(first) === one && client(nil) === none)
  }
}

extension Telemetry {
  /// The value of the first series of a metric that has these labels; `nil` if there is none.
  fileprivate func value(_ metric: String, _ labels: String...) -> Double? { value(metric, labels) }

  private func value(_ metric: String, _ labels: [String]) -> Double? {
    let lines = metricsText().text.split(separator: "\n").filter { line in
      line.hasPrefix("grpc_xds_client_\(metric){") && labels.allSatisfy { line.contains($0) }
    }
    return lines.first?.split(separator: " ").last.flatMap { Double($0) }
  }

  fileprivate func waitFor(_ metric: String, _ expected: Double, _ labels: String...) async throws {
    while value(metric, labels) != expected {
      try Task.checkCancellation()
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}
