import CallTestSupport
import EchoService
import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// The events of calls that had to wait, and of messages within the process.
@Suite(.timeLimit(.minutes(5))) struct DelayTests {
  /// Reports what it knows only after the channel has started it.
  private struct Late: Resolver {
    final class LateResolution: Resolution {
      func resolveAgain() {}
      func stop() {}
    }
    let schemes = ["late"]
    let endpoint: Endpoint
    let serviceConfig: ServiceConfig?
    var findsServiceConfigs: Bool { serviceConfig != nil }

    func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
      updates.report(ResolverResult(endpoints: [endpoint], serviceConfig: .success(serviceConfig)))
      return LateResolution()
    }
  }

  /// With a config, calls wait in front of the transport, and without one within it.
  @Test(arguments: [nil, "{}"])
  func theFirstCallWaitsForTheNameAndForAConnection(_ config: String?) async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    try await withEcho(TracedEcho(), server: nil, client: nil) { _, address in
      let port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
      let endpoint = try #require(EndpointAddress(ip: "127.0.0.1", port: port))
      let serviceConfig = try config.map { try ServiceConfig(json: $0) }
      var options = ChannelOptions()
      options.observer = telemetry.observer()
      options.security = .plaintext
      options.resolvers = [Late(endpoint: Endpoint([endpoint]), serviceConfig: serviceConfig)]
      let client = Echo_EchoClient(channel: try Channel(target: "late:///greeter", options: options))
      for _ in 0..<2 { _ = try await client.get(.with { $0.text = "x" }) }
      await client.channel.shutDown(grace: .zero)
      // An address need not be resolved.
      let known = Echo_EchoClient(channel: try Channel(target: address, options: options))
      _ = try await known.get(.with { $0.text = "x" })
      await known.channel.shutDown(grace: .zero)
    }
    await telemetry.flush()
    let calls = exporter.spans.filter { $0.kind == .client }
    let attempts = exporter.spans.filter { $0.kind == .internal }
    #expect(calls.map { $0.state.events.map(\.name) } == [["Delayed name resolution complete"], [], []])
    let delays = attempts.map { attempt in attempt.state.events.map(\.name).filter { $0.hasPrefix("Delayed") }
    }
    #expect(delays == [["Delayed LB pick complete"], [], ["Delayed LB pick complete"]])
    await telemetry.shutDown()
  }

  @Test func callsWithoutAResolvedNameHaveNoEvents() async throws {
    struct Failing: Resolver {
      final class Nothing: Resolution {
        func resolveAgain() {}
        func stop() {}
      }
      let schemes = ["failing"]
      let findsServiceConfigs: Bool

      func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
        updates.report(ResolverResult(failure: GRPCStatus(code: .unavailable, message: "no such name")))
        return Nothing()
      }
    }
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    for findsServiceConfigs in [false, true] {
      var options = ChannelOptions()
      options.observer = telemetry.observer()
      options.security = .plaintext
      options.resolvers = [Failing(findsServiceConfigs: findsServiceConfigs)]
      let client = Echo_EchoClient(channel: try Channel(target: "failing:///x", options: options))
      let failure = await status { _ = try await client.get(.with { $0.text = "x" }) }
      #expect(failure?.code == .unavailable)
      await client.channel.shutDown(grace: .zero)
    }
    await telemetry.flush()
    #expect(exporter.spans.filter { $0.kind == .client }.count == 2)
    #expect(exporter.spans.allSatisfy { $0.state.events.isEmpty })
    await telemetry.shutDown()
  }

  @Test func messagesWithinTheProcessAreEvents() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    var options = ServerOptions()
    options.observer = telemetry.observer()
    var channelOptions = ChannelOptions()
    channelOptions.observer = telemetry.observer()
    let channel = try Channel(inProcess: [TracedEcho()], options: options, channelOptions: channelOptions)
    let client = Echo_EchoClient(channel: channel)
    _ = try await client.get(.with { $0.text = "x" })
    await client.channel.shutDown(grace: .zero)
    await telemetry.flush()
    let attempt = try #require(exporter.span("Attempt.echo.Echo.Get"))
    let received = try #require(exporter.span("Recv.echo.Echo.Get"))
    #expect(attempt.state.events.map(\.name) == ["Outbound message", "Inbound message"])
    #expect(received.state.events.map(\.name) == ["Inbound message", "Outbound message"])
    #expect(received.state.events.first?.attributes.first { $0.key == "message-size" }?.value == 3)
    await telemetry.shutDown()
  }
}
