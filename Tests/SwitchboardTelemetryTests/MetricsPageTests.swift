import HTTP2TestSupport
import Switchboard
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardTelemetry

/// The page of metrics on a port of its own.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct MetricsPageTests {
  static func get(_ path: String, at address: SocketAddress) throws -> String {
    let peer = try RawPeer(address)
    peer.send(Array("GET \(path) HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n".utf8))
    return String(decoding: peer.read(1 << 20), as: UTF8.self)
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
