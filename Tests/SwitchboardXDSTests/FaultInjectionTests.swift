import CallTestSupport
import EchoService
import Foundation
import SwitchboardCall
import SwitchboardXDS
import Testing

/// Calls with faults, of our client and of gRPC's own.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct FaultInjectionTests {
  static func fault(_ fault: [String: Any]) -> [String: Any] {
    fault.merging(["@type": "type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault"]) { $1 }
  }

  private static func abort(_ status: Int, percent: Int = 100) -> [String: Any] {
    fault(["abort": ["grpcStatus": status, "percentage": ["numerator": percent]] as [String: Any]])
  }

  private func mesh(
    _ ports: [Int],
    _ filters: [(String, [String: Any])],
    routes: [[String: Any]] = [Mesh.route(to: "c0")],
    host: [String: Any] = [:]
  ) -> Mesh {
    let clusters = Dictionary(uniqueKeysWithValues: ports.enumerated().map { ("c\($0)", [$1]) })
    var mesh = Mesh("greeter", routes: [], clusters: clusters)
    let all = filters.map { ["name": $0.0, "typedConfig": $0.1] as [String: Any] } + [Mesh.router]
    mesh.listeners = [Mesh.listener("greeter", routes: "routes-of-greeter", filters: all)]
    mesh.routes = [
      Mesh.table("routes-of-greeter", [Mesh.host(["greeter"], routes).merging(host) { $1 }])
    ]
    return mesh
  }

  /// How often each server and each status answers our client.
  private func ours(
    _ plane: PlanePeer,
    calls: Int,
    _ metadata: [(String, String)] = []
  ) async throws -> [String: Int] {
    try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
      var answers: [String: Int] = [:]
      for _ in 0..<calls {
        do {
          answers[try await client.server(metadata), default: 0] += 1
        } catch let status as GRPCStatus { answers[status.code.specName, default: 0] += 1 }
      }
      return answers
    }
  }

  private func expect(
    _ expected: [String: Int],
    _ mesh: ([Int]) -> Mesh,
    _ metadata: [(String, String)] = [],
    calls: Int = 10
  ) async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      try plane.set(mesh(ports))
      for (client, answers) in [
        ("ours", try await ours(plane, calls: calls, metadata)),
        ("gRPC's", try plane.answersOfGRPC(calls: calls, metadata)),
      ] {
        guard calls > 10 else {
          #expect(answers == expected, "\(client)")
          continue
        }
        // Within five standard deviations.
        for name in Set(answers.keys).union(expected.keys) {
          let share = Double(expected[name] ?? 0) / Double(calls)
          let difference = abs(Double(answers[name] ?? 0) - share * Double(calls))
          let spread = 5 * (share * (1 - share) * Double(calls)).squareRoot()
          #expect(difference <= spread, "\(client): \(answers), expected \(expected)")
        }
      }
    }
  }

  @Test func callsFailAsTheControlPlaneSays() async throws {
    try await expect(["NOT_FOUND": 10]) { mesh($0, [("fault", Self.abort(5))]) }
    let http = Self.fault(["abort": ["httpStatus": 401, "percentage": ["numerator": 100]] as [String: Any]])
    try await expect(["UNAUTHENTICATED": 10]) { mesh($0, [("fault", http)]) }
    // The first filter that has a call fail decides.
    try await expect(["NOT_FOUND": 10]) { mesh($0, [("a", Self.abort(5)), ("b", Self.abort(7))]) }
  }

  @Test func aShareOfCallsFails() async throws {
    try await expect(
      ["NOT_FOUND": 300, "s0": 700],
      { mesh($0, [("fault", Self.abort(5, percent: 30))]) },
      calls: 1000
    )
  }

  @Test func metadataMaySayHowCallsFail() async throws {
    let rule = Self.fault([
      "abort": ["headerAbort": [:] as [String: Any], "percentage": ["numerator": 100]] as [String: Any]
    ])
    let field = ("x-envoy-fault-abort-grpc-request", "5")
    try await expect(["NOT_FOUND": 10], { mesh($0, [("fault", rule)]) }, [field])
    try await expect(["s0": 10]) { mesh($0, [("fault", rule)]) }
  }

  /// A repetition would only meet the same fault.
  @Test func aFaultIsNotRepeated() async throws {
    let retry: [String: Any] = ["retryPolicy": ["retryOn": "unavailable", "numRetries": 3]]
    try await expect(
      ["UNAVAILABLE": 300, "s0": 700],
      {
        mesh($0, [("fault", Self.abort(14, percent: 30))], routes: [Mesh.route(to: "c0", more: retry)])
      },
      calls: 1000
    )
  }

  /// Those of the cluster count, then those of the route, of the host, and of the listener.
  @Test(arguments: [0, 1, 2, 3])
  func theClosestRuleCounts(_ depth: Int) async throws {
    func override(_ status: Int) -> [String: Any] {
      ["typedPerFilterConfig": ["fault": Self.abort(status), "other": Self.abort(16)]]
    }
    var weighted: [String: Any] = ["name": "c0", "weight": 1]
    if depth == 3 { weighted.merge(override(3)) { $1 } }
    var route: [String: Any] = [
      "match": ["prefix": ""], "route": ["weightedClusters": ["clusters": [weighted]]],
    ]
    if depth >= 2 { route.merge(override(9)) { $1 } }
    let host = depth >= 1 ? override(11) : [:]
    let status = ["NOT_FOUND", "OUT_OF_RANGE", "FAILED_PRECONDITION", "INVALID_ARGUMENT"][depth]
    try await expect([status: 10]) { mesh($0, [("fault", Self.abort(5))], routes: [route], host: host) }
  }

  @Test func aCallThatIsDelayedEndsWithItsDeadline() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      let rule = Self.fault([
        "delay": ["headerDelay": [:] as [String: Any], "percentage": ["numerator": 100]] as [String: Any]
      ])
      try plane.set(mesh(ports, [("fault", rule)]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
        var limited = CallOptions()
        limited.initialMetadata = HPACKHeaders([("x-envoy-fault-delay-request", "360000000")])
        let options = limited
        limited.timeout = .milliseconds(50)
        let status = await #expect(throws: GRPCStatus.self) {
          try await client.get(Echo_EchoRequest(), callOptions: limited)
        }
        #expect(status?.code == .deadlineExceeded)
        #expect(
          status?.message?.contains("a delay that the control plane has put before the call") == true,
          "\(String(describing: status))"
        )
        let call = Task { try await client.get(Echo_EchoRequest(), callOptions: options) }
        call.cancel()
        await #expect(throws: (any Error).self) { try await call.value }
      }
    }
  }

  @Test func aCallIsMadeAfterItsDelay() async throws {
    let rule = Self.fault([
      "delay": ["headerDelay": [:] as [String: Any], "percentage": ["numerator": 100]] as [String: Any]
    ])
    try await expect(["s0": 10], { mesh($0, [("fault", rule)]) }, [("x-envoy-fault-delay-request", "5")])
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(mesh(ports, [("fault", rule)]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        let start = ContinuousClock.now
        #expect(try await client.server([("x-envoy-fault-delay-request", "100")]) == "s0")
        #expect(ContinuousClock.now - start >= .milliseconds(100))
      }
    }
  }

  /// The call ends as if its server had said nothing but that all is well.
  @Test func aCallMayEndWithoutAnAnswer() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(mesh(ports, [("fault", Self.abort(0))]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        await #expect(throws: GRPCStatus.self) { try await client.server() }
        let call = client.makeUpdateCall()
        var replies = call.responseStream.makeAsyncIterator()
        #expect(try await replies.next() == nil)
        #expect(await call.status.code == .ok)
      }
    }
  }

  private static var broken: [([String: Any], String)] {
    [
      (fault(["abort": ["grpcStatus": 17]]), "typed_config.abort.grpc_status: is no status: 17"),
      (
        fault(["delay": ["fixedDelay": "-1s"]]),
        "typed_config.delay.fixed_delay: is not a duration of zero or more"
      ),
    ]
  }

  /// Our client refuses the listener for a reason with this end.
  private func expectRefusal(_ plane: PlanePeer, _ fault: String) async throws {
    try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
      let failure = await #expect(throws: GRPCStatus.self) { try await client.server() }
      #expect(failure?.code == .unavailable)
      // It may tell the control plane after its call has failed.
      let answer = try plane.nextAnswer("listeners", ["greeter"])
      #expect(answer.reason.hasSuffix(fault), "\(answer.reason)")
    }
  }

  @Test(arguments: 0..<2)
  func aRuleThatMakesNoSenseIsRefused(_ number: Int) async throws {
    let (rule, fault) = Self.broken[number]
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(mesh(ports, [("fault", rule)]))
      try await expectRefusal(plane, "http_filters[0].\(fault)")
      // It ends as soon as its call has failed, perhaps before the control plane learns why.
      #expect(try plane.answersOfGRPC(calls: 1) == ["UNAVAILABLE": 1])
    }
  }

  /// A filter of a type that no client knows: that of a cluster is at hand.
  private static var unknown: [String: Any] {
    ["@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster"]
  }

  private static var lists: [([[String: Any]], String)] {
    [
      (
        [Mesh.router, ["name": "fault", "typedConfig": abort(5)]],
        "[1]: the filter fault comes after the router"
      ), ([["name": "fault", "typedConfig": abort(5)]], ": have no router at their end"),
      (
        [["name": "other", "typedConfig": unknown], Mesh.router],
        "[0]: the filter other of type envoy.config.cluster.v3.Cluster is not supported"
      ),
      (
        [Mesh.router, Mesh.router.merging(["name": "second"]) { $1 }],
        "[1]: the filter second comes after the router"
      ), ([], ": have no router at their end"),
      (
        [
          [
            "name": "access",
            "typedConfig": ["@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC"],
          ], Mesh.router,
        ],
        "[0]: the filter access of type envoy.extensions.filters.http.rbac.v3.RBAC is not supported"
      ),
    ]
  }

  @Test(arguments: 0..<6)
  func listsOfFiltersThatMakeNoSenseAreRefused(_ number: Int) async throws {
    let (filters, fault) = Self.lists[number]
    try await withMesh(servers: 1) { plane, ports async throws in
      var mesh = mesh(ports, [])
      mesh.listeners = [Mesh.listener("greeter", routes: "routes-of-greeter", filters: filters)]
      try plane.set(mesh)
      try await expectRefusal(plane, "http_filters\(fault)")
      // It ends as soon as its call has failed, perhaps before the control plane learns why.
      #expect(try plane.answersOfGRPC(calls: 1) == ["UNAVAILABLE": 1])
    }
  }

  private static func wrapped(_ config: [String: Any]?, _ more: [String: Any] = [:]) -> [String: Any] {
    var all = more
    all["@type"] = "type.googleapis.com/envoy.config.route.v3.FilterConfig"
    if let config { all["config"] = config }
    return all
  }

  /// What a route has instead of the rule of a listener, and what becomes of calls then.
  private static var overrides: [([String: Any], String)] {
    [
      (wrapped(abort(9)), "FAILED_PRECONDITION"),
      (wrapped(abort(9), ["isOptional": true]), "FAILED_PRECONDITION"),
      (wrapped(unknown, ["isOptional": true]), ""), (wrapped(unknown), "UNAVAILABLE"),
      (wrapped(nil), "UNAVAILABLE"), (wrapped(nil, ["disabled": true]), "UNAVAILABLE"),
      (unknown, "UNAVAILABLE"), (Self.fault([:]), "s0"),
      (wrapped(abort(9), ["disabled": true]), "s0"), (abort(9), "FAILED_PRECONDITION"),
      (Mesh.router["typedConfig"] as? [String: Any] ?? [:], "UNAVAILABLE"),
    ]
  }

  /// `isDisabled`: calls pass the filter only if their route has a rule for it.
  @Test(arguments: [false, true], 0..<11)
  func aRouteMayHaveARuleOfItsOwn(_ isDisabled: Bool, _ number: Int) async throws {
    let (config, answer) = Self.overrides[number]
    var route = Mesh.route(to: "c0")
    route["typedPerFilterConfig"] = ["fault": config]
    let filter: [String: Any] = ["name": "fault", "disabled": isDisabled, "typedConfig": Self.abort(5)]
    try await expect([answer.isEmpty ? isDisabled ? "s0" : "NOT_FOUND" : answer: 10]) { ports in
      var mesh = mesh(ports, [], routes: [route])
      mesh.listeners = [
        Mesh.listener("greeter", routes: "routes-of-greeter", filters: [filter, Mesh.router])
      ]
      return mesh
    }
  }

  /// Only servers have a filter for it, and may have the same routes as clients.
  @Test func whatRoutesSayToServersIsLeftOut() async throws {
    var route = Mesh.route(to: "c0")
    route["typedPerFilterConfig"] = [
      "access": ["@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute"]
    ]
    try await expect(["NOT_FOUND": 10]) { mesh($0, [("fault", Self.abort(5))], routes: [route]) }
  }

  /// A filter of an unknown type that is optional, as if it were not there.
  @Test func optionalFiltersAreLeftOut() async throws {
    try await expect(["NOT_FOUND": 10]) { ports in
      var mesh = mesh(ports, [])
      let filters: [[String: Any]] = [
        ["name": "other", "isOptional": true, "typedConfig": Self.unknown],
        ["name": "fault", "typedConfig": Self.abort(5)], Mesh.router,
        ["name": "last", "isOptional": true, "typedConfig": Self.unknown],
      ]
      mesh.listeners = [Mesh.listener("greeter", routes: "routes-of-greeter", filters: filters)]
      return mesh
    }
  }
}
