import EchoService
import Foundation
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// The same routes in our client, in gRPC's own (C-core) and in Envoy, at the same control plane and the same servers.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ComparisonTests {
  /// Makes calls by these routes, which may lead to the clusters `c0` to `c2`: each has one server, `s0` to `s2`.
  private func compare(
    _ routes: [[String: Any]],
    _ expected: [String: Int],
    ofEnvoy expectedOfEnvoy: [String: Int]? = nil
  ) async throws {
    try await withDataPlanes(
      servers: 3,
      { mesh($0, routes) },
      { planes async throws in
        try await planes.expect(expected, ofEnvoy: expectedOfEnvoy)
      }
    )
  }

  private func mesh(_ ports: [Int], _ routes: [[String: Any]]) -> Mesh {
    let clusters = Dictionary(uniqueKeysWithValues: ports.enumerated().map { ("c\($0)", [$1]) })
    return Mesh("greeter", routes: routes, clusters: clusters)
  }

  @Test func aSplit() async throws {
    try await compare(
      [Mesh.split([("c0", 1), ("c1", 2), ("c2", 7)])],
      ["s0": 100, "s1": 200, "s2": 700]
    )
  }

  @Test func paths() async throws {
    let routes = [
      Mesh.route(to: "c0", match: ["path": "/echo.echo/get"]),
      Mesh.route(to: "c0", match: ["path": "/echo.Echo/"]),
      Mesh.route(to: "c1", match: ["path": "/echo.echo/get", "caseSensitive": false]), Mesh.route(to: "c2"),
    ]
    try await compare(routes, ["s1": 1000])
  }

  @Test func beginningsOfPaths() async throws {
    let routes = [
      Mesh.route(to: "c0", match: ["prefix": "/echo.echo/"]),
      Mesh.route(to: "c0", match: ["prefix": "/echo.Echo/Get/"]),
      Mesh.route(to: "c1", match: ["prefix": "/ECHO.echo/g", "caseSensitive": false]), Mesh.route(to: "c2"),
    ]
    try await compare(routes, ["s1": 1000])
  }

  /// Expects the calls to have what the rule asks for, or not.
  private func compare(
    _ rule: String,
    _ metadata: [(String, String)],
    _ has: Bool,
    inEnvoy hasInEnvoy: Bool
  ) async throws {
    let header = try JSONSerialization.jsonObject(with: Data(rule.utf8))
    let routes = [Mesh.route(to: "c0", match: ["prefix": "", "headers": [header]]), Mesh.route(to: "c1")]
    try await withDataPlanes(
      servers: 2,
      { mesh($0, routes) },
      { planes async throws in
        let expected = [has ? "s0" : "s1": 1000]
        try await planes.expect(expected, ofEnvoy: [hasInEnvoy ? "s0" : "s1": 1000], metadata)
      }
    )
  }

  @Test(arguments: [
    (#"{"name": "k", "exactMatch": "a,b"}"#, true), (#"{"name": "k", "prefixMatch": "a"}"#, true),
    (#"{"name": "k", "suffixMatch": "b"}"#, true), (#"{"name": "k", "containsMatch": ","}"#, true),
    (#"{"name": "k", "stringMatch": {"contains": "A,", "ignoreCase": true}}"#, true),
    (#"{"name": "k", "stringMatch": {"exact": "A,B"}}"#, false),
    (#"{"name": "n", "rangeMatch": {"start": -7, "end": 43}}"#, true),
    (#"{"name": "n", "rangeMatch": {"start": 0, "end": 42}}"#, false),
    (#"{"name": "k", "presentMatch": true}"#, true), (#"{"name": "none", "presentMatch": true}"#, false),
    (#"{"name": "none", "presentMatch": true, "invertMatch": true}"#, true),
    (#"{"name": "none", "presentMatch": false}"#, true),
    (#"{"name": "none", "exactMatch": "x", "invertMatch": true}"#, false),
    (#"{"name": "k", "exactMatch": "x", "invertMatch": true}"#, true),
    (#"{"name": "content-type", "exactMatch": "application/grpc"}"#, true),
    (#"{"name": "k", "safeRegexMatch": {"regex": "a,b"}}"#, true),
    (#"{"name": "k", "safeRegexMatch": {"regex": "a"}}"#, false),
    (#"{"name": "k", "safeRegexMatch": {"regex": "a|a,."}}"#, true),
    (#"{"name": "k", "safeRegexMatch": {"regex": "b"}, "invertMatch": true}"#, true),
    (#"{"name": "none", "safeRegexMatch": {"regex": ".*"}, "invertMatch": true}"#, false),
    (#"{"name": "k", "stringMatch": {"safeRegex": {"regex": "(?i)A,B"}}}"#, true),
    (#"{"name": "n", "safeRegexMatch": {"regex": "[0-9]{2}"}}"#, true),
  ])
  func headers(_ rule: String, _ has: Bool) async throws {
    try await compare(rule, [("k", "a,b"), ("n", "42")], has, inEnvoy: has)
  }

  /// Clients of gRPC join the values of a name, with commas. Envoy compares each, and is content with one.
  @Test(arguments: [
    (#"{"name": "k", "exactMatch": "a,b"}"#, true, false),
    (#"{"name": "k", "exactMatch": "b"}"#, false, true),
    (#"{"name": "k", "prefixMatch": "a"}"#, true, true), (#"{"name": "k", "suffixMatch": "b"}"#, true, true),
    (#"{"name": "k", "safeRegexMatch": {"regex": "b"}, "invertMatch": true}"#, true, false),
  ])
  func headersWithSeveralValues(_ rule: String, _ has: Bool, _ hasInEnvoy: Bool) async throws {
    try await compare(rule, [("k", "a"), ("k", "b")], has, inEnvoy: hasInEnvoy)
  }

  /// For clients of gRPC, metadata with bytes are not there; for Envoy they are.
  @Test func headersWithBytes() async throws {
    try await compare(#"{"name": "b-bin", "presentMatch": true}"#, [("b-bin", "YQ")], false, inEnvoy: true)
  }

  @Test func patternsOfPaths() async throws {
    let routes = [
      Mesh.route(to: "c0", match: ["safeRegex": ["regex": "/echo"]]),
      Mesh.route(to: "c0", match: ["safeRegex": ["regex": "/ECHO[.].*"], "caseSensitive": false]),
      Mesh.route(to: "c1", match: ["safeRegex": ["regex": "/echo[.]Echo/(G|Get|Put)"]]),
      Mesh.route(to: "c2"),
    ]
    try await compare(routes, ["s1": 1000])
  }

  @Test func aFraction() async throws {
    let fraction: [String: Any] = ["defaultValue": ["numerator": 3000, "denominator": "TEN_THOUSAND"]]
    let routes = [
      Mesh.route(to: "c0", match: ["prefix": "", "runtimeFraction": fraction]), Mesh.route(to: "c1"),
    ]
    try await compare(routes, ["s0": 300, "s1": 700])
  }

  @Test func noRoute() async throws {
    try await compare(
      [Mesh.route(to: "c0", match: ["prefix": "/other"])],
      ["UNAVAILABLE": 1000],
      ofEnvoy: ["UNIMPLEMENTED": 1000]
    )
  }

  /// The longest of the best kind: a whole name, then an end, then a beginning, then all.
  @Test(arguments: [
    (["*", "gree*", "*er", "greeter"], "s3"), (["*", "gree*", "*er", "*eter"], "s3"),
    (["*", "gree*", "greet*", "other"], "s2"),
    (["*", "GREETER", "other", "g*"], "s1"), (["*", "g.*", "*.r", "other"], "s0"),
  ])
  func domains(_ domains: [String], _ server: String) async throws {
    try await withDataPlanes(
      servers: 4,
      { ports in
        let clusters = Dictionary(uniqueKeysWithValues: ports.enumerated().map { ("c\($0)", [$1]) })
        var mesh = Mesh("greeter", routes: [], clusters: clusters)
        let hosts = domains.enumerated().map { number, domain in
          Mesh.host([domain], [Mesh.route(to: "c\(number)")]).merging(["name": "h\(number)"]) { $1 }
        }
        mesh.routes = [Mesh.table("routes-of-greeter", hosts)]
        return mesh
      },
      { planes async throws in
        try await planes.expect([server: 1000])
      }
    )
  }
}
