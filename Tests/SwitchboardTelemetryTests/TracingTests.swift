import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// The spans of gRFC A72, and the context that handlers pass on.
@Suite(.timeLimit(.minutes(5))) struct TracingTests {
  @Test func aCallIsThreeSpansInOneTrace() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    let observer = telemetry.observer()
    try await withEcho(TracedEcho(), server: observer, client: observer) { client, address in
      _ = try await client.get(.with { $0.text = "x" })
      _ = await status { _ = try await client.get(.with { $0.text = "fail" }) }
    }
    await telemetry.flush()
    let sent = try #require(exporter.span("Sent.echo.Echo.Get"))
    let attempt = try #require(exporter.span("Attempt.echo.Echo.Get"))
    let received = try #require(exporter.span("Recv.echo.Echo.Get"))
    #expect(sent.parent == nil)
    #expect(attempt.parent == sent.context.spanID)
    #expect(received.parent == attempt.context.spanID)
    #expect(Set([sent, attempt, received].map(\.context.traceID)).count == 1)
    #expect((sent.kind, attempt.kind, received.kind) == (.client, .internal, .server))
    #expect(attempt.attribute("previous-rpc-attempts") == 0)
    #expect(attempt.attribute("transparent-retry") == false)
    #expect(received.attribute("rpc.method") == "Get")
    #expect(received.attribute("rpc.grpc.status_code") == 0)
    let messages = attempt.state.events.filter { $0.name.hasSuffix("message") }
    #expect(messages.map(\.name) == ["Outbound message", "Inbound message"])
    #expect(messages.first?.attributes.first { $0.key == "message-size" }?.value == 3)
    #expect(received.state.events.map(\.name) == ["Inbound message", "Outbound message"])
    #expect(exporter.spans.filter { $0.state.failure == "ABORTED: no" }.count == 3)
    await telemetry.shutDown()
  }

  @Test func callsOfAHandlerAreItsChildren() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    let observer = telemetry.observer()
    try await withEcho(TracedEcho(), server: observer, client: observer) { inner, _ in
      try await withEcho(TracedEcho(next: inner), server: observer, client: nil) { client, _ in
        _ = try await client.get(.with { $0.text = "x" })
      }
    }
    await telemetry.flush()
    let received = exporter.spans.filter { $0.state.name == "Recv.echo.Echo.Get" }
    let outer = try #require(received.first { $0.parent == nil })
    let sent = try #require(exporter.span("Sent.echo.Echo.Get"))
    #expect(sent.parent == outer.context.spanID)
    #expect(exporter.spans.allSatisfy { $0.context.traceID == outer.context.traceID })
    #expect(exporter.spans.count == 4)
    await telemetry.shutDown()
  }

  @Test func interceptorsOfEitherSideKeepTheContext() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    let observer = telemetry.observer()
    try await withEcho(TracedEcho(), server: observer, client: observer) { _, channel in
      channel.interceptorFactories = [PassingOn()]
    } _: { inner, _ in
      let next = Echo_EchoClient(channel: inner.channel, interceptors: .none)
      try await withEcho(TracedEcho(next: next), server: observer, client: nil) { server, _ in
        server.interceptorFactories = [PassingOn()]
      } _: { client, _ in
        _ = try await client.get(.with { $0.text = "x" })
      }
    }
    await telemetry.flush()
    let outer = try #require(exporter.spans.first { $0.parent == nil })
    #expect(outer.state.name == "Recv.echo.Echo.Get")
    #expect(exporter.spans.allSatisfy { $0.context.traceID == outer.context.traceID })
    await telemetry.shutDown()
  }

  @Test(arguments: [Sampler.never, .parentBased(.never)])
  func unsampledTracesPropagateUnrecorded(_ sampler: Sampler) async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter) { $0.sampler = sampler }
    let seen = Locked<[String]>([])
    let echo = TracedEcho { context in seen.withLock { $0 += context.headers["traceparent"] } }
    try await withEcho(echo, server: telemetry.observer(), client: telemetry.observer()) { client, _ in
      _ = try await client.get(.with { $0.text = "x" })
    }
    await telemetry.flush()
    #expect(exporter.spans.isEmpty)
    let header = try #require(seen.withLock { $0 }.first)
    #expect(header.count == 55 && header.hasSuffix("-00"))
    await telemetry.shutDown()
  }

  @Test func aProcessWithoutExportersForwardsTracesUnchanged() async throws {
    let telemetry = try Telemetry(TelemetryOptions())
    let seen = Locked<[String]>([])
    let last = TracedEcho { context in seen.withLock { $0 += context.headers["traceparent"] } }
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    try await withEcho(last, server: nil, client: telemetry.observer()) { next, _ in
      try await withEcho(TracedEcho(next: next), server: telemetry.observer(), client: nil) { client, _ in
        let options = CallOptions(initialMetadata: ["traceparent": parent])
        _ = try await client.get(.with { $0.text = "x" }, callOptions: options)
      }
    }
    #expect(seen.withLock { $0 } == [parent])
    await telemetry.shutDown()
  }

  /// The header may be taken out of the others, or not, depending on the protocol and on its value.
  @Test(arguments: [CallProtocol.grpc, .grpcWeb, .connect, nil], [Sampler.always, .never])
  func traceStateBelongsToTraceParent(_ wireProtocol: CallProtocol?, _ sampler: Sampler) async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) { $0.sampler = sampler }
    let seen = Locked<[String?]>([])
    let echo = TracedEcho { _ in seen.withLock { $0.append(SpanContext.current?.traceState) } }
    func call(_ client: Echo_EchoClient) async throws {
      let parent = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
      for (name, value) in [
        ("traceparent", "00-\(parent)"), ("traceparent", "01-\(parent)"), ("other", "x"),
      ] {
        var options = CallOptions(initialMetadata: ["tracestate": "a=b", name: value])
        if name == "other" {
          let binary = [0, 0] + Array(1...16) + [1] + Array(1...8) + [2, 1]
          options.initialMetadata.add(name: "grpc-trace-bin", binary: binary.map { UInt8($0) })
        }
        _ = try await client.get(.with { $0.text = "x" }, callOptions: options)
      }
    }
    if let wireProtocol {
      try await withEcho(echo, server: telemetry.observer(), client: nil) {
        $0.web = WebOptions()
        $1.wireProtocol = wireProtocol
      } _: { client, _ in
        try await call(client)
      }
    } else {
      var options = ServerOptions()
      options.observer = telemetry.observer()
      try await withChannel(try Channel(inProcess: [echo], options: options)) { channel async throws in
        try await call(Echo_EchoClient(channel: channel))
      }
    }
    #expect(seen.withLock { $0 } == ["a=b", "a=b", ""])
    await telemetry.shutDown()
  }

  /// Also if both say the same.
  @Test(arguments: [true, false]) func repeatedTraceParentsAreIgnored(_ areEqual: Bool) async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    let other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203332-01"
    try await withEcho(TracedEcho(), server: telemetry.observer(), client: nil) { client, _ in
      for count in 1...2 {
        var options = CallOptions()
        for number in 0..<count {
          options.initialMetadata.add(name: "traceparent", value: number == 0 || areEqual ? parent : other)
        }
        // The second call with the same headers takes another way through the server.
        for _ in 0..<2 { _ = try await client.get(.with { $0.text = "x" }, callOptions: options) }
      }
    }
    await telemetry.flush()
    let parents = exporter.spans.map { $0.parent?.description }
    #expect(parents == ["b7ad6b7169203331", "b7ad6b7169203331", nil, nil])
    await telemetry.shutDown()
  }

  /// A trace that nobody records would keep later services from recording theirs.
  @Test func noTraceBeginsWithoutExporters() async throws {
    let telemetry = try Telemetry(TelemetryOptions())
    let seen = Locked<[String]>([])
    let echo = TracedEcho { context in seen.withLock { $0 += context.headers["traceparent"] + ["end"] } }
    try await withEcho(echo, server: nil, client: telemetry.observer()) { client, _ in
      _ = try await client.get(.with { $0.text = "x" })
      try await telemetry.tracer.withSpan("step") { span in
        #expect(!span.isRecording && SpanContext.current == nil)
        _ = try await client.get(.with { $0.text = "x" })
      }
    }
    #expect(seen.withLock { $0 } == ["end", "end"])
    await telemetry.shutDown()
  }

  @Test func metadataThatAHandlerPassesOnDoesNotDoubleTheTrace() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) {
      $0.propagators = [.traceContext, .grpcTraceBin]
    }
    let seen = Locked<HPACKHeaders?>(nil)
    let echo = TracedEcho { context in seen.withLock { $0 = context.headers } }
    try await withEcho(echo, server: nil, client: telemetry.observer()) { client, _ in
      let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
      let options = CallOptions(initialMetadata: ["traceparent": parent, "tracestate": "a=b", "kept": "yes"])
      _ = try await client.get(.with { $0.text = "x" }, callOptions: options)
    }
    let headers = try #require(seen.withLock { $0 })
    #expect(headers["traceparent"].count == 1)
    #expect(headers.first(name: "traceparent")?.contains("0af7651916cd43dd8448eb211c80319c") == false)
    #expect(headers["tracestate"].isEmpty)
    #expect(headers.first(name: "kept") == "yes")
    #expect(headers[binary: "grpc-trace-bin"].first.flatMap(TraceBin.read)?.isSampled == true)
    await telemetry.shutDown()
  }

  @Test func aStatusFailsASpanOfTheProgramAsItFailsACall() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    await #expect(throws: GRPCStatus.self) {
      try await telemetry.tracer.withSpan("step") { _ in throw GRPCStatus(code: .notFound, message: "gone") }
    }
    await telemetry.flush()
    #expect(exporter.span("step")?.state.failure == "NOT_FOUND: gone")
    await telemetry.shutDown()
  }

  @Test func spansOfTheProgramNestAndFail() async throws {
    struct Broken: Error {}
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    await #expect(throws: Broken.self) {
      try await telemetry.tracer.withSpan("outer") { outer in
        outer.set("a", 1)
        outer.set("a", 2)
        #expect(Span.current === outer)
        try await telemetry.tracer.withSpan("inner") { inner in
          inner.addEvent("half", ["left": 0.5])
          throw Broken()
        }
      }
    }
    await telemetry.flush()
    let (outer, inner) = (try #require(exporter.span("outer")), try #require(exporter.span("inner")))
    #expect(inner.parent == outer.context.spanID)
    #expect(outer.attribute("a") == 2)
    #expect(inner.state.failure == "Broken()")
    #expect(inner.state.events.map(\.name) == ["half"])
    await telemetry.shutDown()
  }

  @Test func eachRetryIsASpan() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    let config = try ServiceConfig(
      json: """
        {"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 2, "initialBackoff": "0.001s",
          "maxBackoff": "0.001s", "backoffMultiplier": 1, "retryableStatusCodes": ["ABORTED"]}}]}
        """
    )
    try await withEcho(TracedEcho(), server: nil, client: telemetry.observer()) { _, channel in
      channel.serviceConfig = config
    } _: { client, _ in
      _ = await status { _ = try await client.get(.with { $0.text = "fail" }) }
    }
    await telemetry.flush()
    let sent = try #require(exporter.span("Sent.echo.Echo.Get"))
    let attempts = exporter.spans.filter { $0.state.name == "Attempt.echo.Echo.Get" }
    #expect(attempts.map { $0.attribute("previous-rpc-attempts") } == [0, 1])
    #expect(attempts.allSatisfy { $0.parent == sent.context.spanID })
    await telemetry.shutDown()
  }
}

/// Interceptors that change nothing, one of each way to write them.
private struct PassingOn: InterceptorFactory {
  func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] { [ClientInterceptor()] }

  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] { [ServerInterceptor()] }
}
