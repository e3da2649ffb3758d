import EchoService
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardServices
import SwitchboardXDS
import TestSupport
import Testing

/// Calls of sessions, which stay at one server (gRFCs A55, A60 and A75), of our client and of gRPC's own.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct SessionCallTests {
  private static let types = "type.googleapis.com/envoy.extensions"
  private static let method = "/echo.Echo/Get"

  private func session(_ cookie: [String: Any]) -> [String: Any] {
    let state: [String: Any] = [
      "@type": "\(Self.types).http.stateful_session.cookie.v3.CookieBasedSessionState", "cookie": cookie,
    ]
    return ["sessionState": ["name": "envoy.http.stateful_session.cookie", "typedConfig": state]]
  }

  private func filter(_ config: [String: Any]) -> [String: Any] {
    let type = "\(Self.types).filters.http.stateful_session.v3.StatefulSession"
    return ["name": "sessions", "typedConfig": config.merging(["@type": type]) { $1 }]
  }

  private func override(_ config: [String: Any]) -> [String: Any] {
    let type = "\(Self.types).filters.http.stateful_session.v3.StatefulSessionPerRoute"
    return ["typedPerFilterConfig": ["sessions": config.merging(["@type": type]) { $1 }]]
  }

  private func mesh(
    _ clusters: [String: [Int]],
    _ cookie: [String: Any] = ["name": "s"],
    routes: [[String: Any]] = [Mesh.route(to: "one")],
    version: String = "1"
  ) -> Mesh {
    var mesh = Mesh("greeter", version: version, routes: routes, clusters: clusters)
    mesh.listeners = [
      Mesh.listener("greeter", routes: "routes-of-greeter", filters: [filter(session(cookie)), Mesh.router])
    ]
    return mesh
  }

  /// Each connection that begins within a pick lets the calls that wait pick again.
  @Test(arguments: ["RING_HASH", "ROUND_ROBIN"])
  func manySessionsMayBeginAtOnce(_ policy: String) async throws {
    try await withMesh(servers: 8) { plane, ports async throws in
      var mesh = mesh(["one": ports])
      mesh.clusters = [Mesh.cluster("one", more: ["lbPolicy": policy])]
      try plane.set(mesh)
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<32 {
            let server = "127.0.0.1:\(ports[number % 8]);one"
            group.addTask {
              let cookie = "s=\(Data(server.utf8).base64EncodedString())"
              let answer = try await call(client, cookie)
              #expect(answer == ["s\(number % 8)"])
            }
          }
          try await group.waitForAll()
        }
      }
    }
  }

  /// Whether calls of sessions that wait while a server connects wait for its health, too.
  @Test func aSessionDoesNotBeginAtAServerThatIsNotHealthy() async throws {
    let plane = try PlanePeer()
    let providers = [false, true].enumerated().map { number, isHealthy in
      let health = HealthService()
      health.set(isHealthy ? .serving : .notServing, for: "echo")
      return [NamedEcho(name: "s\(number)"), health] as [any CallHandlerProvider]
    }
    try await withServers(providers) { _, addresses async throws in
      let ports = addresses.compactMap(\.port).map { Int($0) }
      var mesh = mesh(["one": ports])
      mesh.clusters = [Mesh.cluster("one", more: ["lbPolicy": "ROUND_ROBIN"])]
      try plane.set(mesh)
      let config = try ServiceConfig(json: #"{"healthCheckConfig": {"serviceName": "echo"}}"#)
      let cookie = "s=\(Data("127.0.0.1:\(ports[0]);one".utf8).base64EncodedString())"
      try await withMeshClient("xds:///greeter", plane.bootstrap) {
        $0.serviceConfig = config
      } _: { client async throws in
        for _ in 0..<4 { #expect(try await call(client, cookie).first == "s1") }
      }
    }
  }

  /// The server that answers a call with a cookie, and the cookies that come with the answer.
  private func call(_ client: Echo_EchoClient, _ cookie: String) async throws -> [String] {
    var options = CallOptions()
    options.timeout = .seconds(60)
    if !cookie.isEmpty { options.initialMetadata.add(name: "cookie", value: cookie) }
    let call = client.makeGetCall(Echo_EchoRequest(), callOptions: options)
    return [try await call.response.text] + (try await call.initialMetadata["set-cookie"])
  }

  /// The same of several calls; `=` stands for the last cookie that came.
  private func ours(_ client: Echo_EchoClient, _ cookies: [String]) async throws -> [[String]] {
    var (answers, last): ([[String]], String) = ([], "")
    for cookie in cookies {
      do {
        let answer = try await call(client, cookie == "=" ? last : cookie)
        if answer.count > 1 { last = String(answer[answer.count - 1].prefix { $0 != ";" }) }
        answers.append(answer)
      } catch let status as GRPCStatus { answers.append([status.code.specName]) }
    }
    return answers
  }

  private func ours(_ plane: PlanePeer, _ cookies: [String]) async throws -> [[String]] {
    try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
      try await ours(client, cookies)
    }
  }

  private func theirs(_ plane: PlanePeer, _ cookies: [String]) throws -> [[String]] {
    let server: [String: Any] = [
      "server_uri": "127.0.0.1:\(plane.port)", "channel_creds": [["type": "insecure"]],
    ]
    let bootstrap = try JSONSerialization.data(
      withJSONObject: ["xds_servers": [server], "node": ["id": "grpcio"]] as [String: Any]
    )
    let peer = try PythonPeer(
      "session_client.py",
      [String(decoding: bootstrap, as: UTF8.self), "xds:///greeter", Self.method] + cookies
    )
    let line = try #require(peer.line())
    peer.stop()
    return try JSONDecoder().decode([[String]].self, from: Data(line.utf8))
  }

  private func cookie(_ text: String) -> String { "s=\(Data(text.utf8).base64EncodedString())" }

  /// Both clients send the same cookies, to the letter.
  @Test(
    arguments: [
      (#"{"name": "s"}"#, ""), (#"{"name": "s", "path": "/"}"#, "; Path=/"),
      (#"{"name": "s", "path": "/echo.Echo", "ttl": "120s"}"#, "; Path=/echo.Echo; Max-Age=120"),
      (#"{"name": "s", "path": "/echo.Echo/Get", "ttl": "1.9s"}"#, "; Path=/echo.Echo/Get; Max-Age=1"),
      (#"{"name": "s", "ttl": "0s"}"#, ""),
    ]
  )
  func aCookieComesWithTheFirstAnswer(_ cookie: String, _ attributes: String) async throws {
    let rule = try #require(JSONSerialization.jsonObject(with: Data(cookie.utf8)) as? [String: Any])
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(mesh(["one": ports], rule))
      let value = self.cookie("127.0.0.1:\(ports[0]);one")
      let expected = [["s0", "\(value); HttpOnly\(attributes)"], ["s0"], ["s0"]]
      // Among other cookies too.
      let cookies = ["", value, "other=1; \(value); x=y"]
      #expect(try await ours(plane, cookies) == expected)
      let others = try theirs(plane, cookies)
      #expect(others == expected)
    }
  }

  /// Other methods, and routes that say so, have no sessions; a route may have sessions of its own.
  @Test func someCallsHaveNoSessions() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      let own = session(["name": "own"])
      for (path, override, name) in [
        ("/echo.Ech", [:], nil), ("/echo.Echo/Get/", [:], nil), ("", ["disabled": true], nil),
        ("", ["statefulSession": own], "own"), ("/other", ["statefulSession": own], "own"),
        ("", ["statefulSession": [:] as [String: Any]], nil),
      ] as [(String, [String: Any], String?)] {
        var route = Mesh.route(to: "one")
        if !override.isEmpty { route = route.merging(self.override(override)) { $1 } }
        try plane.set(mesh(["one": ports], ["name": "s", "path": path], routes: [route]))
        for answers in [try await ours(plane, [""]), try theirs(plane, [""])] {
          #expect(answers[0].dropFirst().first?.hasPrefix("\(name ?? "")=") ?? (name == nil), "\(answers)")
          #expect(answers[0].count == (name == nil ? 1 : 2), "\(path) \(override) \(answers)")
        }
      }
    }
  }

  @Test func theCallsOfASessionStayAtAServer() async throws {
    try await withMesh(servers: 4) { plane, ports async throws in
      try plane.set(mesh(["one": ports]))
      let cookies = [""] + Array(repeating: "=", count: 40)
      for answers in [try await ours(plane, cookies), try theirs(plane, cookies)] {
        #expect(Set(answers.map { $0[0] }).count == 1)
        #expect(answers.dropFirst().allSatisfy { $0.count == 1 })
      }
      // Each server can be asked for; one that there is not is none.
      let all = ports.map { cookie("127.0.0.1:\($0);one") }
      #expect(try await ours(plane, all) == [["s0"], ["s1"], ["s2"], ["s3"]])
      let gone = cookie("127.0.0.1:1;one")
      for answers in [try await ours(plane, [gone, "="]), try theirs(plane, [gone, "="])] {
        #expect(answers[0].count == 2 && answers[1] == [answers[0][0]])
      }
    }
  }

  /// Envoy has another cookie, without the cluster.
  @Test func allDataPlanesKeepASessionAtAServer() async throws {
    try await withDataPlanes(
      servers: 4,
      { mesh(["one": $0]) },
      { planes async throws in
        let cookies = [""] + Array(repeating: "=", count: DataPlanes.calls - 1)
        for (plane, answers) in [
          (DataPlane.ours, try await ours(planes.ours, cookies)), (.grpc, try theirs(planes.plane, cookies)),
          (.envoy, try await ours(planes.proxied, cookies)),
        ] {
          #expect(Set(answers.map { $0[0] }).count == 1, "\(plane.rawValue)")
          #expect(
            answers[0].count == 2 && answers.dropFirst().allSatisfy { $0.count == 1 },
            "\(plane.rawValue)"
          )
        }
      }
    )
  }

  /// A cookie of an unknown cluster, or none of ours, says nothing; one of a cluster of the route leads there.
  @Test func aSessionStaysInItsCluster() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      try plane.set(
        mesh(["a": [ports[0]], "b": [ports[1]]], routes: [Mesh.split([("a", 1), ("b", 999)])])
      )
      let wanted = cookie("127.0.0.1:\(ports[0]);a")
      let cookies = Array(repeating: wanted, count: 20)
      #expect(try await ours(plane, cookies) == Array(repeating: ["s0"], count: 20))
      #expect(try theirs(plane, cookies) == Array(repeating: ["s0"], count: 20))
      for text in ["127.0.0.1:\(ports[0]);c", "127.0.0.1:\(ports[0])", "", ";", "nonsense;;;a"] {
        let answers = try await ours(plane, [cookie(text)])
        #expect(answers[0].count == 2, "\(text) \(answers)")
      }
      for value in ["s=%%%", "s=", "s", "S=x", "s=\(String(repeating: "A", count: 12_000))"] {
        let answers = try await ours(plane, [value])
        #expect(answers[0].count == 2, "\(value.prefix(10)) \(answers)")
      }
    }
  }

  /// The session of a server that has gone goes on at another, with another cookie.
  @Test func aSessionMovesWhenItsServerGoes() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      try plane.set(mesh(["one": [ports[0]]]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        let first = try await call(client, "")
        #expect(first[0] == "s0")
        let old = cookie("127.0.0.1:\(ports[0]);one")
        try plane.set(mesh(["one": [ports[1]]], version: "2"))
        var answer = first
        while answer[0] == "s0" {
          answer = try await call(client, old)
          try Task.checkCancellation()
        }
        #expect(answer == ["s1", "\(cookie("127.0.0.1:\(ports[1]);one")); HttpOnly"])
      }
    }
  }

  private func place(_ zone: String, _ servers: [(port: Int, health: String)], priority: Int = 0) -> [String:
    Any]
  {
    var place = Mesh.place(zone, ports: servers.map(\.port), priority: priority)
    let endpoints = place["lbEndpoints"] as? [[String: Any]] ?? []
    place["lbEndpoints"] = zip(endpoints, servers).map { $0.merging(["healthStatus": $1.health]) { $1 } }
    return place
  }

  /// A server that is about to end keeps its sessions, if the cluster says so, and gets no other calls.
  @Test(arguments: [nil, ["UNKNOWN", "HEALTHY", "DRAINING"], ["HEALTHY"]] as [[String]?], [true, false])
  func aServerThatIsAboutToEndKeepsItsSessions(_ statuses: [String]?, _ isAlone: Bool) async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      var mesh = mesh(["one": []])
      if let statuses {
        mesh.clusters = [
          Mesh.cluster("one", more: ["commonLbConfig": ["overrideHostStatus": ["statuses": statuses]]])
        ]
      }
      mesh.endpoints = [Mesh.assignment("one", [place("a", [(ports[0], "HEALTHY"), (ports[1], "HEALTHY")])])]
      try plane.set(mesh)
      let wanted = cookie("127.0.0.1:\(ports[0]);one")
      let keeps = statuses?.contains("DRAINING") ?? false
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await call(client, wanted) == ["s0"])
        mesh.version = "2"
        let others = isAlone ? [] : [(ports[1], "HEALTHY")]
        mesh.endpoints = [Mesh.assignment("one", [place("a", [(ports[0], "DRAINING")] + others)])]
        try plane.set(mesh)
        // Other calls go elsewhere.
        while try await ours(client, ["", "", "", ""]).contains(where: { $0[0] == "s0" }) {
          try Task.checkCancellation()
        }
        let elsewhere = isAlone ? "UNAVAILABLE" : "s1"
        for _ in 0..<10 {
          let answers = try await ours(client, [wanted, ""])
          #expect(answers.map { $0[0] } == [keeps ? "s0" : elsewhere, elsewhere])
        }
      }
      // A client that begins now can ask for it too.
      let answer = keeps ? "s0" : isAlone ? "UNAVAILABLE" : "s1"
      #expect(try await ours(plane, [wanted])[0][0] == answer)
      #expect(try theirs(plane, [wanted])[0][0] == answer)
    }
  }

  /// A server in a priority that is not used takes the calls of its sessions.
  @Test func aSessionStaysAtAServerOfAnotherPriority() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      var mesh = mesh(["one": []])
      mesh.endpoints = [
        Mesh.assignment(
          "one",
          [Mesh.place("a", ports: [ports[0]]), Mesh.place("b", ports: [ports[1]], priority: 1)]
        )
      ]
      try plane.set(mesh)
      let cookies = ["", cookie("127.0.0.1:\(ports[1]);one"), ""]
      for answers in [try await ours(plane, cookies), try theirs(plane, cookies)] {
        #expect(answers.map { $0[0] } == ["s0", "s1", "s0"])
      }
      // It moves there while the session lasts.
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        let wanted = cookie("127.0.0.1:\(ports[0]);one")
        #expect(try await call(client, wanted) == ["s0"])
        mesh.version = "2"
        mesh.endpoints = [
          Mesh.assignment(
            "one",
            [Mesh.place("b", ports: [ports[1]]), Mesh.place("a", ports: [ports[0]], priority: 1)]
          )
        ]
        try plane.set(mesh)
        while try await call(client, "")[0] == "s0" { try Task.checkCancellation() }
        for _ in 0..<10 { #expect(try await ours(client, [wanted, ""]).map { $0[0] } == ["s0", "s1"]) }
      }
    }
  }

  /// All addresses of a server are in the cookie, and each of them leads to it.
  @Test func aServerWithSeveralAddressesIsOne() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      var mesh = mesh(["one": []])
      var place = Mesh.place("a", ports: ports)
      var endpoints = try #require(place["lbEndpoints"] as? [[String: Any]])
      var endpoint = try #require(endpoints[0]["endpoint"] as? [String: Any])
      endpoint["additionalAddresses"] = [
        ["address": ["socketAddress": ["address": "127.0.0.1", "portValue": 1]]]
      ]
      endpoints[0]["endpoint"] = endpoint
      place["lbEndpoints"] = endpoints
      mesh.endpoints = [Mesh.assignment("one", [place])]
      try plane.set(mesh)
      let wanted = cookie("127.0.0.1:\(ports[0]),127.0.0.1:1;one")
      for answers in [try await ours(plane, [wanted, wanted]), try theirs(plane, [wanted, wanted])] {
        #expect(answers == [["s0"], ["s0"]])
      }
      let either = [cookie("127.0.0.1:1;one"), cookie("127.0.0.1:\(ports[0]);one")]
      #expect(
        try await ours(plane, either) == Array(repeating: ["s0", "\(wanted); HttpOnly"], count: 2)
      )
    }
  }

  // MARK: Refusals

  @Test(arguments: [
    (#"{"name": ""}"#, "cookie.name: is empty", true), ("null", "cookie: is missing", true),
    (#"{"name": "a", "ttl": "-1s"}"#, "cookie.ttl: is not a duration of zero or more", true),
    (#"{"name": "a b"}"#, "cookie.name: has characters that no cookie may have: a b", false),
    (#"{"name": "a\r\nb"}"#, "cookie.name: has characters that no cookie may have: a\\r\\nb", false),
    (#"{"name": "a=b"}"#, "cookie.name: has characters that no cookie may have: a=b", false),
    (#"{"name": "a", "path": "/;x"}"#, "cookie.path: has characters that no cookie may have: /;x", false),
  ])
  func aCookieMustBeOne(_ json: String, _ fault: String, _ isRefusedByAll: Bool) async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      let value = try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
      var mesh = mesh(["one": ports])
      var state: [String: Any] = [
        "@type": "\(Self.types).http.stateful_session.cookie.v3.CookieBasedSessionState"
      ]
      state["cookie"] = value as? [String: Any]
      let config: [String: Any] = [
        "sessionState": ["name": "envoy.http.stateful_session.cookie", "typedConfig": state]
      ]
      mesh.listeners = [
        Mesh.listener("greeter", routes: "routes-of-greeter", filters: [filter(config), Mesh.router])
      ]
      try plane.set(mesh)
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        await #expect(throws: GRPCStatus.self) { try await call(client, "") }
        let path = "greeter: api_listener.http_filters[0].typed_config.session_state.typed_config."
        #expect(try plane.nextAnswer("listeners", ["greeter"]).reason == path + fault)
      }
      if isRefusedByAll { #expect(try theirs(plane, [""]) == [["UNAVAILABLE"]]) }
    }
  }

  /// What the options of a cluster's protocol say of idle servers.
  @Test(arguments: [
    ("envoy.extensions.upstreams.http.v3.HttpProtocolOptions", "10s", true),
    ("envoy.extensions.upstreams.http.v3.HttpProtocolOptions", "-1s", false),
    ("envoy.extensions.filters.http.router.v3.Router", nil, false),
  ])
  func theOptionsOfAProtocolAreRead(_ type: String, _ timeout: String?, _ isValid: Bool) async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      var mesh = mesh(["one": ports])
      var config: [String: Any] = ["@type": "type.googleapis.com/\(type)"]
      if let timeout { config["commonHttpProtocolOptions"] = ["idleTimeout": timeout] }
      mesh.clusters = [
        Mesh.cluster(
          "one",
          more: ["upstreamConfig": ["name": "http", "typedConfig": config] as [String: Any]]
        )
      ]
      try plane.set(mesh)
      let expected = isValid ? "s0" : "UNAVAILABLE"
      #expect(try await ours(plane, [""])[0][0] == expected)
      #expect(try theirs(plane, [""])[0][0] == expected)
    }
  }
}
