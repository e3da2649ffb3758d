import CallTestSupport
import EchoService
import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// The metrics of gRFCs A66, A94 and A96, as calls make them.
@Suite(.timeLimit(.minutes(5))) struct CallMetricsTests {
  @Test func callsOfBothSidesAreCounted() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    let observer = telemetry.observer()
    try await withEcho(TracedEcho(), server: observer, client: observer) { client, address in
      _ = try await client.get(.with { $0.text = "x" })
      _ = try await client.get(.with { $0.text = "y" })
      _ = await status { _ = try await client.get(.with { $0.text = "fail" }) }
      for try await _ in client.expand(.with { $0.text = "a b c" }) {}
      await client.channel.shutDown(grace: .seconds(5))
      let get = "grpc_method=\"echo.Echo/Get\""
      let target = "grpc_target=\"\(address)\""
      #expect(
        telemetry.lines("grpc_client_attempt_started_total{\(get)") == [
          "grpc_client_attempt_started_total{\(get),\(target)} 3"
        ]
      )
      #expect(
        telemetry.lines("grpc_server_call_started_total{\(get)") == [
          "grpc_server_call_started_total{\(get)} 3"
        ]
      )
      for (name, labels) in [
        ("grpc_client_attempt_duration_seconds", "\(get),\(target)"),
        ("grpc_client_call_duration_seconds", "\(get),\(target)"),
        ("grpc_server_call_duration_seconds", get),
      ] {
        #expect(
          telemetry.lines("\(name)_count{\(labels)").sorted() == [
            "\(name)_count{\(labels),grpc_status=\"ABORTED\"} 1",
            "\(name)_count{\(labels),grpc_status=\"OK\"} 2",
          ]
        )
      }
      // A text of one letter takes three bytes; framing does not count.
      let sent = "grpc_client_attempt_sent_total_compressed_message_size_bytes"
      #expect(
        telemetry.lines("\(sent)_sum{\(get)").sorted() == [
          "\(sent)_sum{\(get),\(target),grpc_status=\"ABORTED\"} 6",
          "\(sent)_sum{\(get),\(target),grpc_status=\"OK\"} 6",
        ]
      )
      let expand = "grpc_method=\"echo.Echo/Expand\""
      let received = "grpc_client_attempt_rcvd_total_compressed_message_size_bytes"
      #expect(
        telemetry.lines("\(received)_sum{\(expand)") == [
          "\(received)_sum{\(expand),\(target),grpc_status=\"OK\"} 9"
        ]
      )
      let answered = "grpc_server_call_sent_total_compressed_message_size_bytes"
      #expect(
        telemetry.lines("\(answered)_sum{\(expand)") == ["\(answered)_sum{\(expand),grpc_status=\"OK\"} 9"]
      )
      #expect(
        telemetry.lines("grpc_subchannel_connection_attempts_succeeded_total").first?.hasSuffix("} 1") == true
      )
      #expect(telemetry.lines("grpc_subchannel_disconnections_total").first?.hasSuffix("} 1") == true)
    }
  }

  @Test(arguments: [true, false]) func callsWithinTheProcessAreCounted(_ tracesCalls: Bool) async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) { $0.tracesCalls = tracesCalls }
    var options = ServerOptions()
    options.observer = telemetry.observer()
    var channelOptions = ChannelOptions()
    channelOptions.observer = telemetry.observer()
    let channel = try Channel(inProcess: [TracedEcho()], options: options, channelOptions: channelOptions)
    _ = try await Echo_EchoClient(channel: channel).get(.with { $0.text = "x" })
    #expect(
      telemetry.lines("grpc_client_call_duration_seconds_count") == [
        "grpc_client_call_duration_seconds_count{grpc_method=\"echo.Echo/Get\",grpc_target=\"inprocess\",grpc_status=\"OK\"} 1"
      ]
    )
    #expect(
      telemetry.lines("grpc_server_call_started_total") == [
        "grpc_server_call_started_total{grpc_method=\"echo.Echo/Get\"} 1"
      ]
    )
  }

  @Test func unknownMethodsCountTogether() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    try await withEcho(TracedEcho(), server: telemetry.observer(), client: nil) { client, _ in
      for number in 0..<20 {
        let method = Method(
          MethodDescriptor(service: "made.up", method: "Number\(number)", type: .unary),
          requests: BytesMarshaller(),
          responses: BytesMarshaller()
        )
        let failure = await status { _ = try await MethodCall(method, on: client.channel).unary([]) }
        #expect(failure?.code == .unimplemented)
      }
      #expect(
        telemetry.lines("grpc_server_call_started_total") == [
          "grpc_server_call_started_total{grpc_method=\"other\"} 20"
        ]
      )
    }
  }

  @Test func endlessMethodsOfAClientAreBounded() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) { $0.cardinalityLimit = 5 }
    try await withEcho(TracedEcho(), server: nil, client: telemetry.observer()) { client, _ in
      for number in 0..<50 {
        let method = Method(
          MethodDescriptor(service: "made.up", method: "Number\(number)", type: .unary),
          requests: BytesMarshaller(),
          responses: BytesMarshaller()
        )
        _ = await status { _ = try await MethodCall(method, on: client.channel).unary([]) }
      }
      let lines = telemetry.lines("grpc_client_attempt_started_total")
      #expect(lines.count == 6)
      #expect(lines.filter { $0.contains("grpc_method=\"other\"") }.first?.hasSuffix(" 45") == true)
    }
  }

  @Test func statusesThatAServerChoosesAreBounded() {
    let meters = CallMeters(isServer: false, limit: 10)
    for number in 0..<20 {
      let meter = meters.meter(method: "made.up/Number\(number)", target: "dns:///a")
      let part = meter.onLoop(0)
      for code in GRPCStatus.Code.allCases {
        part.callStarted()
        let end = CallMeter.End(code: code, duration: 1, sentBytes: 0, receivedBytes: 0, exemplar: nil)
        part.callEnded(end, whole: 1, of: meter)
      }
    }
    let families = meters.collect()
    for family in families {
      // The methods and what is beyond, as many further statuses, and each status of what is beyond that.
      #expect(family.points.count <= 11 + 10 + CallMeter.statusCount, "\(family.descriptor.name)")
    }
    let duration = families.first { $0.descriptor.name == "grpc.client.attempt.duration" }
    var count: UInt64 = 0
    for point in duration?.points ?? [] {
      if case .histogram(let value) = point.value { count += value.count }
    }
    #expect(count == UInt64(20 * CallMeter.statusCount))
  }

  @Test func retriesAreCountedAsTheyAreMade() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    let config = try ServiceConfig(
      json: """
        {"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.001s",
          "maxBackoff": "0.001s", "backoffMultiplier": 1, "retryableStatusCodes": ["ABORTED"]}}]}
        """
    )
    try await withEcho(TracedEcho(), server: nil, client: telemetry.observer()) { _, channel in
      channel.serviceConfig = config
    } _: { client, address in
      _ = await status { _ = try await client.get(.with { $0.text = "fail" }) }
      let labels = "grpc_method=\"echo.Echo/Get\",grpc_target=\"\(address)\""
      #expect(
        telemetry.lines("grpc_client_attempt_started_total") == [
          "grpc_client_attempt_started_total{\(labels)} 3"
        ]
      )
      #expect(
        telemetry.lines("grpc_client_call_duration_seconds_count") == [
          "grpc_client_call_duration_seconds_count{\(labels),grpc_status=\"ABORTED\"} 1"
        ]
      )
      #expect(
        telemetry.lines("grpc_client_call_retries_sum") == ["grpc_client_call_retries_sum{\(labels)} 2"]
      )
      #expect(
        telemetry.lines("grpc_client_call_retry_delay_seconds_count") == [
          "grpc_client_call_retry_delay_seconds_count{\(labels)} 1"
        ]
      )
      #expect(telemetry.lines("grpc_client_call_hedges").isEmpty)
    }
  }
}
