import CallTestSupport
import EchoService
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardXDS

/// Clients of two control planes, of which the second is asked if the first cannot be (gRFC A71): calls, ours and those of gRPC's own
/// client (C-core, by grpcio).
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct FallbackTests {
  /// Runs `body` with two control planes, and with the ports of the servers `s0` and `s1`. The first one's config leads to `s0`,
  /// and the second one's to `s1`.
  private func withPlanes(_ body: (PlanePeer, PlanePeer, [Int]) async throws -> Void) async throws {
    try await withMesh(servers: 2) { first, ports async throws in
      let second = try PlanePeer()
      try first.set(mesh("of-first", ports[0]))
      try second.set(mesh("of-second", ports[1]))
      try await body(first, second, ports)
    }
  }

  private func mesh(_ cluster: String, _ port: Int, version: String = "1") -> Mesh {
    Mesh("greeter", version: version, routes: [Mesh.route(to: cluster)], clusters: [cluster: [port]])
  }

  private func bootstrap(_ planes: PlanePeer...) -> XDSBootstrap {
    XDSBootstrap(
      servers: planes.flatMap(\.bootstrap.servers),
      node: XDSBootstrap.Node(id: "test-client", cluster: "tests")
    )
  }

  /// Waits until the calls go to a server.
  private func wait(for server: String, _ client: Echo_EchoClient) async throws {
    while try await client.server() != server { try Task.checkCancellation() }
  }

  @Test func theFirstIsUsedAloneWhileItAnswers() async throws {
    try await withPlanes { first, second, _ async throws in
      try await withMeshClient("xds:///greeter", bootstrap(first, second)) { client async throws in
        #expect(try await client.server() == "s0")
        try first.command(["cut": true])
        try first.next("asked", "endpoints")
        try first.next("asked", "endpoints")
        #expect(try second.waiting("asked") == 0)
      }
      #expect(try GRPCClient([first, second]).answers(10) == ["s0": 10])
      #expect(try second.waiting("asked") == 0)
    }
  }

  @Test func theSecondIsUsedUntilTheFirstAnswers() async throws {
    try await withPlanes { first, second, ports async throws in
      first.kill()
      let log = LogEntries()
      try await withMeshClient(
        "xds:///greeter",
        bootstrap(first, second),
        {
          $0.resolvers = [
            XDSResolver(bootstrap: bootstrap(first, second), logger: Logger(log, minimumLevel: .info))
          ]
        }
      ) { client async throws in
        let gRPCs = try GRPCClient([first, second])
        #expect(try await client.server() == "s1")
        #expect(try gRPCs.answers(10) == ["s1": 10])
        let begin = try #require(log.all.map(\.message).first { $0.contains("is used in its place") })
        #expect(
          begin.hasPrefix(
            "it cannot be asked, and the listener greeter is needed: the control plane 127.0.0.1:\(second.port) is used "
              + "in its place: "
          )
        )
        let again = try PlanePeer(port: first.port)
        try again.set(mesh("of-first", ports[0]))
        try await wait(for: "s0", client)
        while try gRPCs.answers(1) != ["s0": 1] { try Task.checkCancellation() }
        // Both have left, and ask for nothing more.
        for _ in 0..<2 { try second.next("left", "") }
        let end = "it answers again, and is used in place of the control plane 127.0.0.1:\(second.port)"
        #expect(
          log.all.contains { $0.message == end && $0.metadata["control-plane"] == "127.0.0.1:\(first.port)" }
        )
        try second.set(mesh("of-second", ports[1], version: "2"))
        #expect(try await client.server() == "s0")
        gRPCs.stop()
      }
    }
  }

  /// One that has just started may have nothing yet.
  @Test func anEmptyAnswerIsNoReasonToLeaveTheSecond() async throws {
    try await withPlanes { first, second, ports async throws in
      first.kill()
      try await withMeshClient("xds:///greeter", bootstrap(first, second)) { client async throws in
        #expect(try await client.server() == "s1")
        let again = try PlanePeer(port: first.port)
        try again.next("accepted", "listeners")
        #expect(try await client.server() == "s1")
        try second.set(mesh("newer", ports[1], version: "2"))
        try second.next("accepted", "endpoints") { $0.names == ["newer"] }
        #expect(try second.waiting("left") == 0)
        try again.set(mesh("of-first", ports[0]))
        try await wait(for: "s0", client)
      }
    }
  }

  /// The difference that the documents name.
  @Test func anEmptyAnswerIsAReasonForGRPC() async throws {
    try await withPlanes { first, second, _ async throws in
      first.kill()
      let gRPCs = try GRPCClient([first, second])
      #expect(try gRPCs.answers(3) == ["s1": 3])
      let again = try PlanePeer(port: first.port)
      try again.next("accepted", "listeners")
      while try gRPCs.answers(1) != ["UNAVAILABLE": 1] { try Task.checkCancellation() }
      try second.next("left", "")
      gRPCs.stop()
    }
  }

  @Test func theSecondIsNotAskedWhileAllIsKnown() async throws {
    try await withPlanes { first, second, _ async throws in
      let log = LogEntries()
      try await withMeshClient(
        "xds:///greeter",
        bootstrap(first, second),
        {
          $0.resolvers = [
            XDSResolver(bootstrap: bootstrap(first, second), logger: Logger(log, minimumLevel: .info))
          ]
        }
      ) { client async throws in
        let gRPCs = try GRPCClient([first, second])
        #expect(try await client.server() == "s0")
        #expect(try gRPCs.answers(10) == ["s0": 10])
        first.kill()
        // The stream that has served ends, and the next one cannot be opened: that is a failure.
        try await log.wait { $0.hasPrefix("the stream has ended: ") && $0.contains("connection refused") }
        #expect(try await client.server() == "s0")
        #expect(try gRPCs.answers(10) == ["s0": 10])
        #expect(try second.waiting("asked") == 0)
        gRPCs.stop()
      }
    }
  }

  /// An update names a cluster, and the control plane dies before it has sent that.
  @Test func theSecondIsUsedIfTheFirstDiesInAnUpdate() async throws {
    try await withPlanes { first, second, ports async throws in
      try await withMeshClient("xds:///greeter", bootstrap(first, second)) { client async throws in
        let gRPCs = try GRPCClient([first, second])
        #expect(try await client.server() == "s0")
        #expect(try gRPCs.answers(10) == ["s0": 10])
        var half = mesh("new", ports[0], version: "2")
        half.clusters = [Mesh.cluster("of-first")]
        half.endpoints = [Mesh.assignment("of-first", ports: [ports[0]])]
        try first.set(half)
        for _ in 0..<2 {
          try first.next("accepted", "clusters") { $0.names.contains("new") }
        }
        // What there was goes on meanwhile.
        #expect(try await client.server() == "s0")
        first.kill()
        try await wait(for: "s1", client)
        while try gRPCs.answers(1) != ["s1": 1] { try Task.checkCancellation() }
        gRPCs.stop()
      }
    }
  }

  @Test func withoutAnyControlPlaneTheErrorNamesAll() async throws {
    try await withPlanes { first, second, _ async throws in
      first.kill()
      second.kill()
      try await withMeshClient("xds:///greeter", bootstrap(first, second)) { client async throws in
        let failure = await #expect(throws: GRPCStatus.self) { try await client.server() }
        #expect(failure?.code == .unavailable)
        let text = failure?.message ?? ""
        #expect(text.contains("no control plane can be asked: 127.0.0.1:\(first.port): "), "\(text)")
        #expect(text.contains("; 127.0.0.1:\(second.port): "), "\(text)")
      }
      #expect(try GRPCClient([first, second]).answers(1) == ["UNAVAILABLE": 1])
    }
  }

  /// With `fallback_on_reachability_only`, all that is known is asked for again (gRFC A95).
  @Test func reachabilityAloneMayCount() async throws {
    try await withMesh(servers: 2) { first, ports async throws in
      let second = try PlanePeer()
      func name(_ type: String) -> String { "xdstp://owner/envoy.config.\(type)/greeter" }
      func mesh(_ port: Int) -> Mesh {
        var mesh = Mesh(name("listener.v3.Listener"), routes: [], clusters: [:])
        let (routes, cluster) = (name("route.v3.RouteConfiguration"), name("cluster.v3.Cluster"))
        let endpoints = name("endpoint.v3.ClusterLoadAssignment")
        mesh.listeners = [Mesh.listener(name("listener.v3.Listener"), routes: routes)]
        mesh.routes = [Mesh.table(routes, [Mesh.host(["greeter"], [Mesh.route(to: cluster)])])]
        let eds: [String: Any] = ["edsConfig": ["ads": [:] as [String: Any]], "serviceName": endpoints]
        mesh.clusters = [Mesh.cluster(cluster, more: ["edsClusterConfig": eds])]
        mesh.endpoints = [Mesh.assignment(endpoints, ports: [port])]
        return mesh
      }
      try first.set(mesh(ports[0]))
      try second.set(mesh(ports[1]))
      var bootstrap = bootstrap(first, second)
      bootstrap.authorities["owner"] = XDSBootstrap.Authority(fallsBackOnReachabilityOnly: true)
      try await withMeshClient("xds://owner/greeter", bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
        #expect(try second.waiting("asked") == 0)
        first.kill()
        try await wait(for: "s1", client)
        let again = try PlanePeer(port: first.port)
        try again.set(mesh(ports[0]))
        try await wait(for: "s0", client)
      }
    }
  }

  /// A watch of something new makes the difference.
  @Test func aNewWatchAsksTheSecond() async throws {
    try await withPlanes { first, second, _ async throws in
      let log = LogEntries()
      var environment = XDSEnvironment()
      environment.options.logger = Logger(log, minimumLevel: .info)
      let client = XDSClient(bootstrap(first, second), environment)
      let (updates, source) = AsyncStream<ResourceUpdate>.makeStream()
      let old = try client.watch(ResourceKey(.listener, "greeter")) { source.yield($0) }
      var iterator = updates.makeAsyncIterator()
      guard case .resource(.success)? = await iterator.next() else {
        throw PlanePeer.Missing(what: "listener")
      }
      first.kill()
      try await log.wait { $0.hasPrefix("the stream has ended: ") && $0.contains("connection refused") }
      let new = try client.watch(ResourceKey(.cluster, "of-second")) { source.yield($0) }
      // It asks for all that is watched.
      #expect(try second.next("asked", "listeners").names == ["greeter"])
      var clusters = 0
      while clusters == 0, let update = await iterator.next() {
        switch update {
        case .resource(.success(.cluster)): clusters += 1
        case .resource(.success(.listener)): break
        default: Issue.record("\(update)")
        }
      }
      withExtendedLifetime((old, new)) {}
    }
  }

  /// The calls of a cluster are reported to the control plane that has sent it.
  @Test func callsAreReportedToTheOneInUse() async throws {
    try await withPlanes { first, second, ports async throws in
      let reports: [String: Any] = ["lrsServer": ["self": [:] as [String: Any]]]
      for (plane, port) in [(first, ports[0]), (second, ports[1])] {
        var mesh = mesh("one", port)
        mesh.clusters = [Mesh.cluster("one", more: reports)]
        try plane.set(mesh)
        try plane.command(["reports": ["seconds": 1]])
      }
      func reported(_ plane: PlanePeer, _ client: Echo_EchoClient) async throws {
        _ = try plane.nextLoad("reporting")
        var isReported = false
        while !isReported {
          _ = try await client.server()
          isReported = try plane.nextLoad("reported").load?.contains { !$0.places.isEmpty } == true
        }
      }
      try await withMeshClient("xds:///greeter", bootstrap(first, second)) { client async throws in
        #expect(try await client.server() == "s0")
        try await reported(first, client)
        #expect(try second.waiting("reporting") == 0)
        // A cluster that the first does not send any more.
        var half = mesh("new", ports[0], version: "2")
        half.clusters = []
        try first.set(half)
        try first.next("accepted", "clusters") { $0.names.contains("new") }
        first.kill()
        try await wait(for: "s1", client)
        try await reported(second, client)
      }
    }
  }

  // MARK: Flapping

  /// The first answers with one resource, and then fails once, and so on. Both get streams no faster than one alone would.
  @Test func aControlPlaneThatComesAndGoesDoesNotMakeMoreStreams() async throws {
    try await withPlanes { first, second, _ async throws in
      let time = ManualTime()
      var environment = XDSEnvironment()
      environment.time = time
      environment.options.logger = .quiet
      try first.command(["flap": true])
      let client = XDSClient(bootstrap(first, second), environment)
      // Nobody has the second one: it is unknown again and again.
      let watches = [ResourceKey(.listener, "greeter"), ResourceKey(.endpoints, "nobody")].map { key in
        try? client.watch(key) { _ in }
      }
      var passed = Duration.zero
      var rounds = 0
      while rounds < 8, let wait = await time.nextWait() {
        // The timers of resources are longer, and end with the streams.
        guard wait < .seconds(10) else { continue }
        time.advance(by: wait)
        passed += wait
        rounds = try first.waiting("left")
      }
      // Of two streams of the first, one has failed: then it waits for a second, and the second is asked.
      let streams = try second.waiting("left")
      #expect(streams <= rounds / 2 + 1, "\(streams) streams of the second for \(rounds) of the first")
      #expect(passed >= .milliseconds(800 * (rounds / 2 - 1)), "\(rounds) streams in \(passed)")
      withExtendedLifetime(watches) {}
    }
  }

  /// What comes and goes has to wait nevertheless.
  @Test func thePaceOfStreamsIsKeptWhileNobodyAsks() {
    let start = ContinuousClock.now
    let lost = GRPCStatus(code: .unavailable, message: "lost")
    var pace = StreamPace()
    #expect(pace.next == nil)
    pace.began(at: start)
    #expect(pace.next == start.advanced(by: .milliseconds(100)))
    pace.ended(lost, hasServed: true, at: start)
    #expect(pace.next == start.advanced(by: .milliseconds(100)))
    var waits: [Duration] = []
    for _ in 0..<20 {
      pace.began(at: start)
      pace.ended(lost, hasServed: false, at: start)
      waits.append(pace.next.map { start.duration(to: $0) } ?? .zero)
    }
    // Who asks again meanwhile need not wait to learn that.
    #expect(pace.reasonToWait(at: start) == lost)
    #expect(pace.reasonToWait(at: start.advanced(by: .seconds(200))) == nil)
    #expect(waits[0] >= .milliseconds(800) && waits[1] >= .milliseconds(1280) && waits[19] >= .seconds(96))
    pace.ended(lost, hasServed: true, at: start)
    #expect(pace.reasonToWait(at: start) == nil)
    pace.began(at: start)
    pace.ended(lost, hasServed: false, at: start)
    #expect(pace.next.map { start.duration(to: $0) <= .milliseconds(1200) } == true)
  }
}

extension LogEntries {
  fileprivate func wait(_ fits: (String) -> Bool) async throws {
    while !all.contains(where: { fits($0.message) }) {
      try Task.checkCancellation()
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}
