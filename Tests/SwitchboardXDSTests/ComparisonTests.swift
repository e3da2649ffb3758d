import EchoService
import Foundation
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// The same rules through our client and through gRPC's own (C-core), at the same control plane and the same servers.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ComparisonTests {
  private static let calls = 1000

  private func ours(_ plane: PlanePeer, _ metadata: [(String, String)]) async throws -> [String: Int] {
    try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
      var answers: [String: Int] = [:]
      for _ in 0..<Self.calls {
        do {
          answers[try await client.server(metadata), default: 0] += 1
        } catch let status as GRPCStatus { answers[status.code.specName, default: 0] += 1 }
      }
      return answers
    }
  }

  /// Each share of both is within five standard deviations of what is expected, in thousandths.
  private func compare(
    _ routes: [[String: Any]],
    _ metadata: [(String, String)],
    _ expected: [String: Int]
  ) async throws {
    try await withMesh(servers: 3) { plane, ports async throws in
      try plane.set(
        Mesh("greeter", routes: routes, clusters: ["c0": [ports[0]], "c1": [ports[1]], "c2": [ports[2]]])
      )
      for (client, answers) in [
        ("ours", try await ours(plane, metadata)),
        ("gRPC's", try plane.answersOfGRPC(calls: Self.calls, metadata)),
      ] {
        for name in Set(answers.keys).union(expected.keys) {
          let share = Double(expected[name] ?? 0) / 1000
          let spread = 5 * (share * (1 - share) * Double(Self.calls)).squareRoot()
          let difference = abs(Double(answers[name] ?? 0) - share * Double(Self.calls))
          #expect(difference <= spread, "\(client): \(answers), expected \(expected)")
        }
      }
    }
  }

  @Test func aSplit() async throws {
    try await compare(
      [Mesh.split([("c0", 1), ("c1", 2), ("c2", 7)])],
      [],
      ["s0": 100, "s1": 200, "s2": 700]
    )
  }

  @Test func paths() async throws {
    let routes = [
      Mesh.route(to: "c0", match: ["path": "/echo.echo/get"]),
      Mesh.route(to: "c1", match: ["path": "/echo.echo/get", "caseSensitive": false]),
    ]
    try await compare(routes, [], ["s1": 1000])
  }

  @Test(arguments: [
    #"{"name": "k", "exactMatch": "a,b"}"#, #"{"name": "k", "prefixMatch": "a"}"#,
    #"{"name": "k", "suffixMatch": "b"}"#,
    #"{"name": "k", "stringMatch": {"contains": "A,", "ignoreCase": true}}"#,
    #"{"name": "n", "rangeMatch": {"start": -7, "end": 43}}"#,
    #"{"name": "n", "rangeMatch": {"start": 0, "end": 42}}"#,
    #"{"name": "k", "presentMatch": true}"#, #"{"name": "none", "presentMatch": true}"#,
    #"{"name": "none", "presentMatch": true, "invertMatch": true}"#,
    #"{"name": "none", "presentMatch": false}"#,
    #"{"name": "none", "exactMatch": "x", "invertMatch": true}"#,
    #"{"name": "k", "exactMatch": "x", "invertMatch": true}"#,
    #"{"name": "content-type", "exactMatch": "application/grpc"}"#,
    #"{"name": "b-bin", "presentMatch": true}"#,
    #"{"name": "k", "safeRegexMatch": {"regex": "a,b"}}"#,
    #"{"name": "k", "safeRegexMatch": {"regex": "a"}}"#,
    #"{"name": "k", "safeRegexMatch": {"regex": "a|a,."}}"#,
    #"{"name": "k", "safeRegexMatch": {"regex": "b"}, "invertMatch": true}"#,
    #"{"name": "none", "safeRegexMatch": {"regex": ".*"}, "invertMatch": true}"#,
    #"{"name": "k", "stringMatch": {"safeRegex": {"regex": "(?i)A,B"}}}"#,
    #"{"name": "n", "safeRegexMatch": {"regex": "[0-9]{2}"}}"#,
  ])
  func headers(_ rule: String) async throws {
    let header = try JSONSerialization.jsonObject(with: Data(rule.utf8))
    let routes = [Mesh.route(to: "c0", match: ["prefix": "", "headers": [header]]), Mesh.route(to: "c1")]
    let metadata = [("k", "a"), ("k", "b"), ("n", "42")]
    try await withMesh(servers: 2) { plane, ports async throws in
      try plane.set(Mesh("greeter", routes: routes, clusters: ["c0": [ports[0]], "c1": [ports[1]]]))
      let server = try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        try await client.server(metadata)
      }
      #expect(try plane.answersOfGRPC(calls: 10, metadata) == [server: 10], "\(rule)")
    }
  }

  @Test func patternsOfPaths() async throws {
    let routes = [
      Mesh.route(to: "c0", match: ["safeRegex": ["regex": "/echo"]]),
      Mesh.route(to: "c0", match: ["safeRegex": ["regex": "/ECHO[.].*"], "caseSensitive": false]),
      Mesh.route(to: "c1", match: ["safeRegex": ["regex": "/echo[.]Echo/(G|Get|Put)"]]),
      Mesh.route(to: "c2"),
    ]
    try await compare(routes, [], ["s1": 1000])
  }

  /// A ring of the same servers: both clients take the same one for a user, by the part of the field that the pattern leaves.
  @Test(arguments: [("^([a-z]+)-[0-9]+$", "\\1"), ("[0-9]+", "<\\0>"), ("(x)|-", "\\1."), ("-[0-9]*$", "")])
  func rewrittenHashes(_ pattern: String, _ substitution: String) async throws {
    try await withMesh(servers: 4) { plane, ports async throws in
      let rewrite: [String: Any] = ["pattern": ["regex": pattern], "substitution": substitution]
      let hash: [[String: Any]] = [["header": ["headerName": "user", "regexRewrite": rewrite]]]
      var mesh = Mesh(
        "greeter",
        routes: [Mesh.route(to: "one", more: ["hashPolicy": hash])],
        clusters: [:]
      )
      mesh.clusters = [Mesh.cluster("one", more: ["lbPolicy": "RING_HASH"])]
      mesh.endpoints = [Mesh.assignment("one", ports: ports)]
      try plane.set(mesh)
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        for user in ["ann-1", "ann-27", "bob-1", "eve-3"] {
          let server = try await client.server([("user", user)])
          #expect(try plane.answersOfGRPC(calls: 3, [("user", user)]) == [server: 3], "\(user)")
        }
      }
    }
  }

  @Test func aFraction() async throws {
    let fraction: [String: Any] = ["defaultValue": ["numerator": 3000, "denominator": "TEN_THOUSAND"]]
    let routes = [
      Mesh.route(to: "c0", match: ["prefix": "", "runtimeFraction": fraction]), Mesh.route(to: "c1"),
    ]
    try await compare(routes, [], ["s0": 300, "s1": 700])
  }

  @Test func noRoute() async throws {
    try await compare([Mesh.route(to: "c0", match: ["prefix": "/other"])], [], ["UNAVAILABLE": 1000])
  }
}
