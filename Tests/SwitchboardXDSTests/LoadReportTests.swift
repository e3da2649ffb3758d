import CallTestSupport
import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardXDS

/// Reports of calls to a control plane (LRS), by real streams.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LoadReportTests {
  private let time = ManualTime()

  /// Waits for a wait in this range, and has it pass.
  private func pass(_ range: ClosedRange<Double>, _ before: () throws -> Void = {}) async throws {
    while let wait = await time.nextWait() {
      guard wait >= .seconds(range.lowerBound), wait <= .seconds(range.upperBound) else { continue }
      try before()
      return time.advance(by: wait)
    }
  }

  @Test func aStreamReportsAtTheIntervalThatTheControlPlaneAsksFor() async throws {
    let plane = try PlanePeer()
    var environment = XDSEnvironment()
    environment.time = time
    environment.options.logger = .quiet
    let client = XDSClient(plane.bootstrap, environment)
    #expect(client.reporter(0) == nil)
    let watch = try client.watch(ResourceKey(.listener, "l")) { _ in }
    try plane.command(["reports": ["seconds": 7]])
    let reporter = try #require(client.reporter(0))
    var leases = [reporter.lease("c", ""), reporter.lease("d", "")]
    let hello = try plane.nextLoad("reporting")
    #expect(hello.node == "test-client" && hello.load?.isEmpty == true)
    #expect(hello.names.contains("envoy.lrs.supports_send_all_clusters"))
    leases[0].load.dropped("category")
    try await pass(7...7)
    let load = try #require(try plane.nextLoad("reported").load)
    #expect(load.map(\.cluster) == ["c"] && load.first?.seconds == 7 && load.first?.drops == ["category": 1])
    // It wants them more often.
    try plane.command(["reports": ["seconds": 3, "clusters": ["d"]] as [String: Any]])
    for lease in leases { lease.load.dropped(nil) }
    try await pass(3...3)
    let later = try #require(try plane.nextLoad("reported") { $0.load?.isEmpty == false }.load)
    #expect(later.map(\.cluster) == ["d"] && later.first?.dropped == 1)
    // A stream that has ended is opened again, after a wait.
    try plane.command(["cut": true])
    try await pass(0.8...1.2)
    _ = try plane.nextLoad("reporting")
    leases.removeFirst()
    try plane.command(["reports": ["seconds": 5]])
    try await pass(5...5)
    #expect(try plane.nextLoad("reported") { $0.load?.isEmpty == false }.load?.map(\.cluster) == ["c"])
    _ = try plane.nextLoad("unreported")
    // Nothing is left to report.
    leases = []
    _ = try plane.nextLoad("unreported")
    #expect(try plane.waiting("reporting") == 0)
    withExtendedLifetime(watch) {}
  }

  /// A control plane that knows nothing of reports is asked again, later and later.
  @Test func aControlPlaneMayNotWantReports() async throws {
    let plane = try PlanePeer()
    var environment = XDSEnvironment()
    environment.time = time
    environment.options.logger = .quiet
    let client = XDSClient(plane.bootstrap, environment)
    let watch = try client.watch(ResourceKey(.listener, "l")) { _ in }
    let lease = client.reporter(0)?.lease("c", "")
    try await pass(0.8...1.2)
    try await pass(1.28...1.92)
    try await pass(2.048...3.072) { try plane.command(["reports": ["seconds": 9]]) }
    _ = try plane.nextLoad("reporting")
    withExtendedLifetime((watch, lease)) {}
  }

  // MARK: Calls

  /// Says what it costs, and fails if it should.
  private struct Costly: EchoingProvider {
    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      context.loadReport.cpuUtilization = 0.5
      context.loadReport.namedMetrics = ["a": 2, "b": 3]
      if context.headers.first(name: "fail") != nil { throw GRPCStatus(code: .aborted, message: "it should") }
      return .with { $0.text = "s" }
    }
  }

  private func mesh(_ port: Int) -> Mesh {
    let header: [String: Any] = ["name": "drop", "presentMatch": true]
    var mesh = Mesh(
      "greeter",
      routes: [
        Mesh.route(to: "dropping", match: ["prefix": "", "headers": [header]]), Mesh.route(to: "reported"),
      ],
      clusters: [:]
    )
    let reports: [String: Any] = [
      "lrsServer": ["self": [:] as [String: Any]],
      "lrsReportEndpointMetrics": ["cpu_utilization", "named_metrics.a"],
    ]
    let eds: [String: Any] = ["edsConfig": ["ads": [:] as [String: Any]], "serviceName": "endpoints"]
    var named = Mesh.cluster("reported", more: reports)
    named["edsClusterConfig"] = eds
    mesh.clusters = [named, Mesh.cluster("dropping", more: reports)]
    let drop: [String: Any] = ["category": "lb", "dropPercentage": ["numerator": 100]]
    mesh.endpoints = [
      Mesh.assignment("endpoints", ports: [port]),
      Mesh.assignment(
        "dropping",
        [Mesh.place("a", ports: [port])],
        more: ["policy": ["dropOverloads": [drop]]]
      ),
    ]
    return mesh
  }

  /// Our client and gRPC's own report the same of the same calls.
  @Test(arguments: [nil, "fail", "drop"])
  func callsAreReported(_ field: String?) async throws {
    let metadata = field.map { [($0, "1")] } ?? []
    let cluster = field == "drop" ? "dropping" : "reported"
    let plane = try PlanePeer()
    try plane.command(["reports": ["seconds": 1]])
    try await withServers([[Costly()]]) { _, addresses async throws in
      try plane.set(mesh(Int(try #require(addresses.first?.port))))
      let ours = try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        for _ in 0..<20 { _ = try? await client.server(metadata) }
        return try plane.load(of: cluster, calls: 20)
      }
      var gRPCs: PlanePeer.Load?
      _ = try plane.answersOfGRPC(calls: 20, metadata) { gRPCs = try plane.load(of: cluster, calls: 20) }
      for (client, load) in [("ours", ours), ("gRPC's", try #require(gRPCs))] {
        #expect(load.service == (field == "drop" ? "" : "endpoints"), "\(client)")
        #expect(load.dropped == (field == "drop" ? 20 : 0), "\(client)")
        #expect(load.drops == (field == "drop" ? ["lb": 20] : [:]), "\(client)")
        let place = PlanePeer.Load.Place(
          issued: 20,
          succeeded: field == nil ? 20 : 0,
          failed: field == nil ? 0 : 20,
          current: 0,
          metrics: ["cpu_utilization": [20, 10], "named_metrics.a": [20, 40]]
        )
        #expect(load.places == (field == "drop" ? [:] : ["a": place]), "\(client)")
      }
    }
  }

  /// Channels to the same target share a stream. A cluster that is not to be reported any more is not, and calls go on.
  @Test func reportsBeginAndEndWithTheCluster() async throws {
    let plane = try PlanePeer()
    try plane.command(["reports": ["seconds": 1]])
    try await withServers([[Costly()]]) { _, addresses async throws in
      let port = Int(try #require(addresses.first?.port))
      var silent = Mesh("greeter", routes: [Mesh.route(to: "reported")], clusters: ["reported": [port]])
      try plane.set(silent)
      try await withMeshClient("xds:///greeter", plane.bootstrap) { first async throws in
        try await withMeshClient("xds:///greeter", plane.bootstrap) { second async throws in
          for client in [first, second] { #expect(try await client.server() == "s") }
          #expect(try plane.waiting("reporting") == 0)
          var reported = mesh(port)
          reported.version = "2"
          try plane.set(reported)
          _ = try plane.nextLoad("reporting")
          // Calls that begin with the old config are not counted.
          var calls = 0
          while calls < 40 {
            for client in [first, second] { #expect(try await client.server() == "s") }
            calls += try plane.reportedCalls()
          }
          #expect(try plane.waiting("reporting") == 0)
          silent.version = "3"
          try plane.set(silent)
          _ = try plane.nextLoad("unreported")
          for client in [first, second] { #expect(try await client.server() == "s") }
        }
      }
    }
  }
}

extension PlanePeer {
  /// The calls of the reports that have come.
  fileprivate func reportedCalls() throws -> Int {
    var calls = 0
    while try waiting("reported") > 0 {
      for load in try nextLoad("reported").load ?? [] {
        calls += load.places.values.reduce(0) { $0 + $1.succeeded }
      }
    }
    return calls
  }
}
