import CallTestSupport
import EchoService
import ServerTestSupport
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
    target: String = "known:///greeter",
    locality: String? = "eu-1",
    service: String? = "carts",
    texts: [String] = ["x"],
    config: String = ""
  ) async throws {
    try await withEcho(TracedEcho(), server: nil, client: nil) { _, address in
      var options = ChannelOptions()
      options.observer = telemetry.observer()
      options.security = .plaintext
      options.resolvers = [Known(endpoints: [try endpoint(address, locality, service)])]
      options.serviceConfig = try ServiceConfig(
        json: "{\"loadBalancingConfig\": [{\"\(policy)\": {}}]\(config)}"
      )
      let client = Echo_EchoClient(channel: try Channel(target: target, options: options))
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

  /// Targets of a resolver's scheme are shown as they are, with or without slashes, and cut everywhere at one length.
  @Test func targetsAreTheSameLabelEverywhere() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) { $0.metrics.enabled = ["grpc.lb.*"] }
    let long = "known:" + String(repeating: "x", count: 500)
    for target in ["known:greeter", long] { try await call(telemetry, policy: "pick_first", target: target) }
    for name in [
      "grpc_client_attempt_started_total", "grpc_subchannel_connection_attempts_succeeded_total",
      "grpc_lb_pick_first_connection_attempts_succeeded_total",
    ] {
      let lines = telemetry.lines(name)
      #expect(lines.count == 2)
      for target in ["known:greeter", String(long.prefix(256))] {
        #expect(lines.filter { $0.hasSuffix("grpc_target=\"\(target)\"} 1") }.count == 1)
      }
    }
    await telemetry.shutDown()
  }

  @Test func optionalLabelsAreOmittedByDefault() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    try await call(telemetry, policy: "round_robin")
    #expect(
      telemetry.lines("grpc_client_attempt_duration_seconds_count") == [
        "grpc_client_attempt_duration_seconds_count{\(call),grpc_status=\"OK\"} 1"
      ]
    )
    await telemetry.shutDown()
  }

  /// The optional labels of gRFC A94.
  @Test func connectionsHaveTheLabelsOfTheirServerAndTheirEnd() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) {
      $0.metrics.optionalLabels = [
        "grpc.lb.locality", "grpc.lb.backend_service", "grpc.security_level", "grpc.disconnect_error",
      ]
    }
    try await call(telemetry, policy: "round_robin")
    let labels =
      "grpc_target=\"known:///greeter\",grpc_lb_locality=\"eu-1\",grpc_lb_backend_service=\"carts\""
    #expect(
      telemetry.lines("grpc_subchannel") == [
        "grpc_subchannel_connection_attempts_succeeded_total{\(labels)} 1",
        "grpc_subchannel_connection_attempts_failed_total{\(labels)} 0",
        "grpc_subchannel_disconnections_total{\(labels),grpc_disconnect_error=\"subchannel shutdown\"} 1",
        "grpc_subchannel_open_connections{\(labels),grpc_security_level=\"none\"} 0",
      ]
    )
    await telemetry.shutDown()
  }

  @Test func aServersShutdownIsTheReasonForADisconnection() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) {
      $0.metrics.optionalLabels = ["grpc.disconnect_error"]
    }
    var options = ChannelOptions()
    options.observer = telemetry.observer()
    try await withPair([TracedEcho()], channel: options) { pair async throws in
      _ = try await Echo_EchoClient(channel: pair.channel).get(.with { $0.text = "x" })
      await pair.server.shutDown(grace: .seconds(5))
      let name = "grpc_subchannel_disconnections_total"
      while !Task.isCancelled, telemetry.lines(name).isEmpty { await Task.yield() }
      let labels = "grpc_target=\"\(pair.address)\",grpc_disconnect_error=\"GOAWAY NO_ERROR\""
      #expect(telemetry.lines(name) == ["\(name){\(labels)} 1"])
    }
    await telemetry.shutDown()
  }

  /// Connections are only told apart by what the program has asked for, and only up to the limit.
  @Test func connectionsHaveAsManySeriesAsTheLimit() {
    func connection(_ target: String, _ labels: [String: String], isSecure: Bool = false)
      -> ObservedConnection
    {
      var connection = ObservedConnection(peer: target, isSecure: isSecure, isServer: false)
      connection.labels = labels
      return connection
    }
    func values(_ meters: ConnectionMeters, _ name: String) -> [String] {
      meters.collect().filter { $0.descriptor.name == "grpc.subchannel.\(name)" }.flatMap(\.points).map {
        point in
        guard case .int(let value) = point.value else { return "" }
        return point.attributes.map { "\($0.value)" }.joined(separator: ",") + "=\(value)"
      }
    }
    let all: Set = ["grpc.lb.locality", "grpc.security_level", "grpc.disconnect_error", "grpc.unknown"]
    let (plain, labelled) = (ConnectionMeters(limit: 3), ConnectionMeters(limit: 3, labels: all))
    for meters in [plain, labelled] {
      for number in 0..<5 {
        for isSecure in [false, true] {
          let place = ["grpc.lb.locality": "l\(number)"]
          meters.opened(connection("dns:///a", place, isSecure: isSecure))
          let end = ["grpc.disconnect_error": isSecure ? "connection reset" : "unknown"].merging(place) { $1 }
          if number == 0 || number == 4 { meters.closed(connection("dns:///a", end, isSecure: isSecure)) }
        }
      }
    }
    #expect(values(plain, "connection_attempts_succeeded") == ["dns:///a=10"])
    #expect(values(plain, "disconnections") == ["dns:///a=4"])
    #expect(values(plain, "open_connections") == ["dns:///a=6"])
    #expect(
      values(labelled, "connection_attempts_succeeded") == ["dns:///a,l0=2", "dns:///a,l1=1", "other,=7"]
    )
    #expect(
      values(labelled, "disconnections") == [
        "dns:///a,l0,unknown=1", "dns:///a,l0,connection reset=1", "other,,unknown=1",
        "other,,connection reset=1",
      ]
    )
    #expect(
      values(labelled, "open_connections") == [
        "dns:///a,l0,none=0", "dns:///a,l0,privacy_and_integrity=0", "dns:///a,l1,none=1",
        "other,,none=2", "other,,privacy_and_integrity=3",
      ]
    )
  }

  @Test func eachAttemptOfARetriedCallHasTheLabels() async throws {
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
