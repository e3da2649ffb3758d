import HTTP2TestSupport
import Switchboard
import SwitchboardCall
import SwitchboardTelemetry
import TestSupport
import Testing

/// The page of metrics on a port of its own.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct MetricsPageTests {
  static func get(
    _ path: String,
    at address: SocketAddress,
    host: String = "localhost",
    accept: String? = nil
  ) throws -> String {
    let peer = try RawPeer(address)
    let fields = "host: \(host)\r\n" + (accept.map { "accept: \($0)\r\n" } ?? "")
    peer.send(Array("GET \(path) HTTP/1.1\r\n\(fields)connection: close\r\n\r\n".utf8))
    return String(decoding: peer.read(1 << 20), as: UTF8.self)
  }

  /// A web page whose name leads to this machine must not read the metrics through a browser (DNS rebinding).
  @Test func thePageAnswersUnderItsOwnNamesOnly() async throws {
    let telemetry = try Telemetry(TelemetryOptions())
    let address = try telemetry.serveMetrics(port: 0)
    let named = try telemetry.serveMetrics(port: 0, names: ["Metrics.example"])
    let known = [
      "localhost", "LOCALHOST:80", "a.localhost", "127.0.0.1", "127.9.9.9:9464", "[::1]", "[::1]:9464",
      "[::ffff:127.0.0.1]:1",
    ]
    let others = [
      "evil.example", "evil.example:9464", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1",
      "[fd00::1]:80", "notlocalhost", "",
    ]
    for host in known {
      #expect(try Self.get("/metrics", at: address, host: host).hasPrefix("HTTP/1.1 200 "))
    }
    for host in others {
      for path in ["/metrics", "/", "/other"] {
        #expect(try Self.get(path, at: address, host: host).hasPrefix("HTTP/1.1 421 "))
      }
    }
    for host in known + ["metrics.example", "METRICS.example:9464"] {
      #expect(try Self.get("/metrics", at: named, host: host).hasPrefix("HTTP/1.1 200 "))
    }
    #expect(try Self.get("/metrics", at: named, host: "example").hasPrefix("HTTP/1.1 421 "))
    await telemetry.shutDown()
  }

  @Test(arguments: [("localhost", "200"), ("evil.example", "421"), (nil, "421")] as [(String?, String)])
  func thePageChecksTheAuthorityOfHTTP2(_ sample: (authority: String?, status: String)) async throws {
    let telemetry = try Telemetry(TelemetryOptions())
    let peer = try FramePeer(try telemetry.serveMetrics(port: 0))
    let head = [(":method", "GET"), (":scheme", "http"), (":path", "/metrics")]
    let name = sample.authority.map { [(":authority", $0)] } ?? [("host", "localhost")]
    peer.send(FramePeer.Kind.headers, 5, 1, FramePeer.block(head + name))
    #expect(peer.nextHeaders()?.fields[":status"] == sample.status)
    await telemetry.shutDown()
  }

  /// A server that others may reach is called by names that nobody here knows.
  @Test func aServerForOthersAnswersUnderAnyName() async throws {
    let telemetry = try Telemetry(TelemetryOptions())
    let address = try telemetry.serveMetrics(host: "0.0.0.0", port: 0)
    #expect(try Self.get("/metrics", at: address, host: "any.example").hasPrefix("HTTP/1.1 200 "))
    await telemetry.shutDown()
  }

  @Test(arguments: [
    ("application/openmetrics-text", true), ("text/plain", false), ("*/*", false), ("", false),
    ("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3,*/*;q=0.1", true),
    ("application/openmetrics-text; q=0", false), ("application/openmetrics-text;q=0.000, */*", false),
    ("Application/OpenMetrics-Text ; Q=0.4", true), ("application/openmetrics-text;q=0.1,text/plain", false),
    ("application/openmetrics-text;q=0, application/openmetrics-text;version=0.0.1", true),
    ("application/openmetrics-text;q=nan", false), ("application/openmetrics-text;q=", false),
  ])
  func theFormatIsTheOneThatIsLikedBest(_ sample: (accept: String, isOpenMetrics: Bool)) async throws {
    let telemetry = try Telemetry(TelemetryOptions())
    let page = try Self.get("/metrics", at: telemetry.serveMetrics(port: 0), accept: sample.accept)
    let type = sample.isOpenMetrics ? "application/openmetrics-text" : "text/plain"
    #expect(page.hasPrefix("HTTP/1.1 200 "))
    #expect(page.contains("\ncontent-type: \(type);"))
    #expect(page.hasSuffix("\n# EOF\n") == sample.isOpenMetrics)
    await telemetry.shutDown()
  }

  @Test func otherPathsAreNotFound() async throws {
    let telemetry = try Telemetry(TelemetryOptions())
    let address = try telemetry.serveMetrics(port: 0)
    #expect(try Self.get("/metrics", at: address).hasPrefix("HTTP/1.1 200 "))
    let root = try Self.get("/", at: address)
    #expect(root.hasPrefix("HTTP/1.1 404 "))
    #expect(root.hasSuffix("the metrics are at /metrics\n"))
    #expect(try Self.get("/metric", at: address).hasPrefix("HTTP/1.1 404 "))
    await telemetry.shutDown()
  }

  @Test func thePageMayBeTheRoot() async throws {
    let telemetry = try Telemetry(TelemetryOptions())
    let address = try telemetry.serveMetrics(port: 0, path: "/")
    #expect(try Self.get("/", at: address).contains("target_info{"))
    await telemetry.shutDown()
  }

  @Test func afterTheEndThereIsNoPage() async throws {
    let telemetry = try Telemetry(TelemetryOptions())
    await telemetry.shutDown()
    let failure = #expect(throws: GRPCStatus.self) { try telemetry.serveMetrics(port: 0) }
    #expect(failure == GRPCStatus(code: .failedPrecondition, message: "the telemetry was shut down"))
  }

  @Test func helpIsReadable() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    let observer = telemetry.observer()
    try await withEcho(TracedEcho(), server: observer, client: observer) { client, _ in
      _ = try await client.get(.with { $0.text = "x" })
    }
    #expect(telemetry.lines("# HELP target_info") == ["# HELP target_info Attributes of the process."])
    #expect(
      telemetry.lines("# HELP grpc_client_attempt_duration") == [
        "# HELP grpc_client_attempt_duration_seconds the duration of an attempt"
      ]
    )
    #expect(telemetry.lines("# HELP").allSatisfy { !$0.contains(" a attempt") })
    await telemetry.shutDown()
  }
}
