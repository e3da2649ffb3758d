import EchoService
import Switchboard
import SwitchboardBalancing
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// The metrics of balancing, and the labels that it gives calls (gRFCs A78 and A89), on real channels.
@Suite(.timeLimit(.minutes(5))) struct BalancingMetricsTests {
  /// Reports endpoints at once.
  private struct Known: Resolver {
    final class Nothing: Resolution {
      func resolveAgain() {}
      func stop() {}
    }
    let schemes = ["known"]
    let endpoints: [Endpoint]

    func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
      updates.report(ResolverResult(endpoints: endpoints))
      return Nothing()
    }
  }

  private func endpoint(_ address: String, _ locality: String?, _ service: String?) throws -> Endpoint {
    let port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
    var endpoint = Endpoint([try #require(EndpointAddress(ip: "127.0.0.1", port: port))])
    endpoint.attributes[EndpointLocality.self] = locality
    endpoint.attributes[EndpointBackendService.self] = service
    return endpoint
  }

  /// Calls a server at an endpoint with labels.
  private func call(
    _ telemetry: Telemetry,
    policy: String,
    locality: String? = "eu-1",
    service: String? = "carts",
    texts: [String] = ["x"],
    config: String = ""
  ) async throws {
    try await withEcho(TracedEcho(), server: nil, client: nil) { _, address in
      var options = ChannelOptions()
      options.observer = telemetry.observer()
      options.resolvers = [Known(endpoints: [try endpoint(address, locality, service)])]
      options.serviceConfig = try ServiceConfig(
        json: "{\"loadBalancingConfig\": [{\"\(policy)\": {}}]\(config)}"
      )
      let client = Echo_EchoClient(channel: try Channel(target: "known:///greeter", options: options))
      for text in texts { _ = await status { _ = try await client.get(.with { $0.text = text }) } }
      await client.channel.shutDown(grace: .seconds(5))
    }
  }

  private let call = "grpc_method=\"echo.Echo/Get\",grpc_target=\"known:///greeter\""

  @Test(arguments: [true, false], ["round_robin", "pick_first"])
  func attemptsHaveTheLabelsOfTheirServer(_ tracesCalls: Bool, _ policy: String) async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) {
      $0.tracesCalls = tracesCalls
      $0.metrics.optionalLabels = ["grpc.lb.locality", "grpc.lb.backend_service"]
    }
    try await call(telemetry, policy: policy, texts: ["x", "y", "fail"])
    try await call(telemetry, policy: policy, locality: nil)
    let some = "\(call),grpc_lb_locality=\"eu-1\",grpc_lb_backend_service=\"carts\""
    let one = "\(call),grpc_lb_locality=\"\",grpc_lb_backend_service=\"carts\""
    for name in [
      "grpc_client_attempt_duration_seconds", "grpc_client_attempt_sent_total_compressed_message_size_bytes",
      "grpc_client_attempt_rcvd_total_compressed_message_size_bytes",
    ] {
      #expect(
        telemetry.lines("\(name)_count") == [
          "\(name)_count{\(one),grpc_status=\"OK\"} 1", "\(name)_count{\(some),grpc_status=\"OK\"} 2",
          "\(name)_count{\(some),grpc_status=\"ABORTED\"} 1",
        ]
      )
    }
    // What is not of one attempt has no such labels.
    #expect(
      telemetry.lines("grpc_client_attempt_started_total") == [
        "grpc_client_attempt_started_total{\(call)} 4"
      ]
    )
    #expect(
      telemetry.lines("grpc_client_call_duration_seconds_count") == [
        "grpc_client_call_duration_seconds_count{\(call),grpc_status=\"OK\"} 3",
        "grpc_client_call_duration_seconds_count{\(call),grpc_status=\"ABORTED\"} 1",
      ]
    )
    await telemetry.shutDown()
  }

  @Test func labelsThatNobodyAskedForAreNotThere() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    try await call(telemetry, policy: "round_robin")
    #expect(
      telemetry.lines("grpc_client_attempt_duration_seconds_count") == [
        "grpc_client_attempt_duration_seconds_count{\(call),grpc_status=\"OK\"} 1"
      ]
    )
    await telemetry.shutDown()
  }

  @Test func eachAttemptOfARepeatedCallHasThem() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) {
      $0.metrics.optionalLabels = ["grpc.lb.locality"]
    }
    let retries = """
      , "methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.001s",
        "maxBackoff": "0.001s", "backoffMultiplier": 1, "retryableStatusCodes": ["ABORTED"]}}]
      """
    try await call(telemetry, policy: "round_robin", texts: ["fail"], config: retries)
    let labels = "\(call),grpc_lb_locality=\"eu-1\",grpc_status=\"ABORTED\""
    #expect(
      telemetry.lines("grpc_client_attempt_duration_seconds_count") == [
        "grpc_client_attempt_duration_seconds_count{\(labels)} 3"
      ]
    )
    #expect(
      telemetry.lines("grpc_client_call_duration_seconds_count") == [
        "grpc_client_call_duration_seconds_count{\(call),grpc_status=\"ABORTED\"} 1"
      ]
    )
    #expect(telemetry.lines("grpc_client_call_retries_sum") == ["grpc_client_call_retries_sum{\(call)} 2"])
    await telemetry.shutDown()
  }

  @Test func endlessLabelsAreBounded() {
    let meters = CallMeters(isServer: false, limit: 10, labels: ["grpc.lb.locality"])
    for number in 0..<100 {
      let meter = meters.meter(method: "a.B/C", target: "dns:///a", labels: ["zone \(number)"])
      let end = CallMeter.End(code: .ok, duration: 1, sentBytes: 0, receivedBytes: 0, exemplar: nil)
      meter.onLoop(0).callEnded(end, whole: nil, of: meter)
    }
    let duration = meters.collect().first { $0.descriptor.name == "grpc.client.attempt.duration" }
    let points = duration?.points ?? []
    #expect(points.count == 11)
    let rest = points.filter { $0.attributes.contains(Attribute("grpc.lb.locality", "other")) }
    guard case .histogram(let value)? = rest.first?.value else {
      Issue.record("nothing counts the rest")
      return
    }
    #expect(value.count == 90)
  }

  @Test func policiesRecordWhereTheyAreEnabled() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) {
      $0.metrics.enabled = ["grpc.lb.*"]
      $0.metrics.optionalLabels = ["grpc.lb.backend_service"]
    }
    try await call(telemetry, policy: "pick_first")
    let target = "grpc_target=\"known:///greeter\""
    #expect(
      telemetry.lines("grpc_lb_pick_first_connection_attempts_succeeded_total") == [
        "grpc_lb_pick_first_connection_attempts_succeeded_total{\(target)} 1"
      ]
    )
    // A policy that shares calls out computes weights when its endpoints change.
    let off = try Telemetry.capturing(CapturingExporter())
    try await call(off, policy: "pick_first")
    #expect(off.lines("grpc_lb").isEmpty)
    await telemetry.shutDown()
    await off.shutDown()
  }
}
