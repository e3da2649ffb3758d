import CallTestSupport
import EchoService
import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// Metrics and spans of calls that are made several times at once, or again by the transport.
@Suite(.timeLimit(.minutes(5))) struct RepeatedCallTests {
  private func attempts(_ exporter: CapturingExporter) -> [SpanRecord] {
    exporter.spans.filter { $0.state.name.hasPrefix("Attempt.") }
  }

  @Test func hedgesAreCountedAndTraced() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    let config = try ServiceConfig(
      json: """
        {"methodConfig": [{"name": [{}], "hedgingPolicy": {"maxAttempts": 3, "hedgingDelay": "0s",
          "nonFatalStatusCodes": ["ABORTED"]}}]}
        """
    )
    try await withEcho(TracedEcho(), server: nil, client: telemetry.observer()) { _, channel in
      channel.serviceConfig = config
    } _: { client, address in
      #expect(await status { _ = try await client.get(.with { $0.text = "fail" }) }?.code == .aborted)
      let labels = "grpc_method=\"echo.Echo/Get\",grpc_target=\"\(address)\""
      #expect(
        telemetry.lines("grpc_client_attempt_started_total") == [
          "grpc_client_attempt_started_total{\(labels)} 3"
        ]
      )
      #expect(telemetry.lines("grpc_client_call_hedges_sum") == ["grpc_client_call_hedges_sum{\(labels)} 2"])
      #expect(
        telemetry.lines("grpc_client_call_duration_seconds_count") == [
          "grpc_client_call_duration_seconds_count{\(labels),grpc_status=\"ABORTED\"} 1"
        ]
      )
      #expect(telemetry.lines("grpc_client_call_retries").isEmpty)
    }
    await telemetry.flush()
    let call = try #require(exporter.span("Sent.echo.Echo.Get"))
    let attempts = attempts(exporter)
    #expect(attempts.count == 3)
    #expect(attempts.allSatisfy { $0.parent == call.context.spanID })
    #expect(Set(attempts.map(\.context.spanID)).count == 3)
    #expect(
      Set(attempts.compactMap { $0.attribute("previous-rpc-attempts") }) == [.int(0), .int(1), .int(2)]
    )
    await telemetry.shutDown()
  }

  /// What the transport tells when a server goes away without having processed a call.
  @Test func transparentRetriesAreSeparateAttempts() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    let group = try LoopGroup()
    defer { group.shutDown() }
    let request = try telemetry.followedRequest(on: group)
    let stamp = request.stamp
    let first = try #require(request.tracer?.attemptStarts(request.method, after: 0))
    let second = first.isSentAgain(stamp)
    let third = second.isSentAgain(stamp)
    third.ended(
      ObservedEnd(status: GRPCStatus(code: .ok), sent: MessageTotals(), received: MessageTotals()),
      stamp
    )
    let labels = "grpc_method=\"a.B/C\",grpc_target=\"dns:///a.example\""
    #expect(
      telemetry.lines("grpc_client_attempt_started_total") == [
        "grpc_client_attempt_started_total{\(labels)} 3"
      ]
    )
    #expect(
      telemetry.lines("grpc_client_call_transparent_retries_sum") == [
        "grpc_client_call_transparent_retries_sum{\(labels)} 2"
      ]
    )
    #expect(
      telemetry.lines("grpc_client_call_duration_seconds_count") == [
        "grpc_client_call_duration_seconds_count{\(labels),grpc_status=\"OK\"} 1"
      ]
    )
    #expect(telemetry.lines("grpc_client_call_retries").isEmpty)
    await telemetry.flush()
    let attempts = attempts(exporter)
    #expect(attempts.map { $0.attribute("transparent-retry") } == [.bool(false), .bool(true), .bool(true)])
    #expect(attempts.allSatisfy { $0.attribute("previous-rpc-attempts") == .int(0) })
    await telemetry.shutDown()
  }
}
