import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// Calls that are followed without an object of their own: those that are only counted, and those whose traces are not
/// recorded.
@Suite(.timeLimit(.minutes(5))) struct LeanCallTests {
  private static let retries = """
    {"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.001s",
      "maxBackoff": "0.001s", "backoffMultiplier": 1, "retryableStatusCodes": ["ABORTED"]}}]}
    """

  private func telemetry(tracing: Bool) throws -> Telemetry {
    try Telemetry.capturing(CapturingExporter()) {
      $0.tracesCalls = tracing
      $0.sampler = .never
    }
  }

  private func expect(_ telemetry: Telemetry, _ name: String, _ series: [String]) {
    #expect(telemetry.lines("grpc_client_\(name)") == series.map { "grpc_client_\(name)\($0)" })
  }

  @Test(arguments: [true, false]) func retriedCallsAreCountedWithAllTheirAttempts(_ tracing: Bool)
    async throws
  {
    let telemetry = try telemetry(tracing: tracing)
    let config = try ServiceConfig(json: Self.retries)
    let seen = Locked<[String]>([])
    let echo = TracedEcho { context in
      seen.withLock { $0 += context.headers["traceparent"] }
    }
    try await withEcho(echo, server: nil, client: telemetry.observer()) { _, channel in
      channel.serviceConfig = config
    } _: { client, address in
      _ = await status { _ = try await client.get(.with { $0.text = "fail" }) }
      _ = try await client.get(.with { $0.text = "x" })
      let method = "grpc_method=\"echo.Echo/Get\",grpc_target=\"\(address)\""
      expect(telemetry, "attempt_started_total", ["{\(method)} 4"])
      let ends = ["OK", "ABORTED"].map { "{\(method),grpc_status=\"\($0)\"} 1" }
      expect(telemetry, "call_duration_seconds_count", ends)
      expect(telemetry, "call_retries_sum", ["{\(method)} 2"])
    }
    // All attempts of a call carry the same identity, and another call's is another.
    let parents = seen.withLock { $0 }
    #expect(parents.count == (tracing ? 4 : 0))
    #expect(Set(parents).count == (tracing ? 2 : 0))
    #expect(parents.allSatisfy { $0.hasSuffix("-00") })
    await telemetry.shutDown()
  }

  /// Nothing follows a call that is neither counted nor recorded: its stamp says what its attempts add.
  @Test(arguments: [CallProtocol.grpc, .grpcWeb, .connect])
  func callsThatNobodyCountsPassTheirTraceOn(_ wireProtocol: CallProtocol) async throws {
    let telemetry = try uncounted()
    let config = try ServiceConfig(json: Self.retries)
    let seen = Locked<[Passing]>([])
    let echo = TracedEcho { context in seen.withLock { $0.append(Passing(context)) } }
    try await withEcho(echo, server: telemetry.observer(), client: telemetry.observer()) { server, channel in
      server.web = WebOptions()
      channel.wireProtocol = wireProtocol
      channel.serviceConfig = config
    } _: { client, _ in
      _ = await status { _ = try await client.get(.with { $0.text = "fail" }) }
      _ = try await client.get(.with { $0.text = "x" })
    }
    let calls = seen.withLock { $0 }
    // The headers of a web protocol's response commit the call, so that it is not tried again.
    let attempts = wireProtocol == .grpc ? 4 : 2
    #expect(calls.map { $0.parents.count } == [Int](repeating: 1, count: attempts))
    #expect(calls.allSatisfy { $0.isWhole })
    // All attempts of a call carry the same identity, and another call's is another.
    #expect(Set(calls.map { $0.parents }).count == 2)
    #expect(Set(calls.map { $0.span }).count == attempts)
    #expect(telemetry.metrics.snapshot().families.isEmpty)
    await telemetry.shutDown()
  }

  @Test func callsWithinTheProcessPassTheirTraceOn() async throws {
    let telemetry = try uncounted()
    let seen = Locked<[Passing]>([])
    let echo = TracedEcho { context in seen.withLock { $0.append(Passing(context)) } }
    var options = ServerOptions()
    options.observer = telemetry.observer()
    var channelOptions = ChannelOptions()
    channelOptions.observer = telemetry.observer()
    try await withChannel(try Channel(inProcess: [echo], options: options, channelOptions: channelOptions)) {
      channel async throws in
      @Sendable func callTwice() async throws {
        for _ in 0..<2 { _ = try await Echo_EchoClient(channel: channel).get(.with { $0.text = "x" }) }
      }
      try await callTwice()
      // On the loop, calls get their identities from another source.
      try await Task(executorPreference: channel.eventLoop) { try await callTwice() }.value
    }
    let calls = seen.withLock { $0 }
    #expect(calls.map { $0.parents.count } == [1, 1, 1, 1])
    #expect(calls.allSatisfy { $0.isWhole })
    #expect(Set(calls.map { $0.parents }).count == 4)
    await telemetry.shutDown()
  }

  private func uncounted() throws -> Telemetry {
    try Telemetry.capturing(CapturingExporter()) {
      $0.countsCalls = false
      $0.sampler = .never
    }
  }

  /// What a handler sees of a trace that passes through it.
  private struct Passing {
    let parents: [String]
    let trace: String?
    let span: String?

    init(_ context: ServerCallContext) {
      parents = context.headers["traceparent"]
      trace = SpanContext.current?.traceID.description
      span = SpanContext.current?.spanID.description
    }

    /// Whether the handler's own span belongs to the caller's trace, which is not recorded.
    var isWhole: Bool {
      guard let trace, let span, let parent = parents.first else { return false }
      return parent.hasPrefix("00-\(trace)-") && parent.hasSuffix("-00") && !parent.contains(span)
    }
  }

  @Test func transparentRetriesAreCounted() async throws {
    let telemetry = try telemetry(tracing: true)
    let group = try LoopGroup()
    defer { group.shutDown() }
    let request = try telemetry.followedRequest(on: group)
    let call = try #require(request.tracer)
    #expect(call.attemptStarts(request.method, after: 0) == nil)
    let first = call.tracer(ofAttempt: request.method)
    #expect(first is ChannelMethod)
    let second = first.isSentAgain(request.stamp)
    #expect(second.traceParent(request.stamp)?.text == first.traceParent(request.stamp)?.text)
    second.ended(
      ObservedEnd(status: .ok, sent: MessageTotals(), received: MessageTotals()),
      request.stamp
    )
    let series = "{grpc_method=\"a.B/C\",grpc_target=\"dns:///a.example\""
    expect(telemetry, "attempt_started_total", ["\(series)} 2"])
    expect(telemetry, "call_transparent_retries_sum", ["\(series)} 1"])
    expect(telemetry, "call_duration_seconds_count", ["\(series),grpc_status=\"OK\"} 1"])
    await telemetry.shutDown()
  }

  /// The header travels beside the others, and the handler finds it among them.
  @Test(arguments: [0, 4_000, 15_500]) func theTraceTravelsWithMetadataOfAnySize(_ size: Int) async throws {
    let telemetry = try telemetry(tracing: true)
    let seen = Locked<HPACKHeaders?>(nil)
    let spans = Locked<SpanContext?>(nil)
    let echo = TracedEcho { context in
      seen.withLock { $0 = context.headers }
      spans.withLock { $0 = SpanContext.current }
    }
    try await withEcho(echo, server: telemetry.observer(), client: telemetry.observer()) { server, channel in
      server.maxMetadataSize = 64 * 1024
    } _: { client, _ in
      let text = String(repeating: "z~", count: size / 2)
      var options = CallOptions()
      options.initialMetadata = ["large": text, "kept": "yes"]
      for _ in 0..<3 { _ = try await client.get(.with { $0.text = "x" }, callOptions: options) }
      let headers = try #require(seen.withLock { $0 })
      #expect(headers["large"] == [text])
      #expect(headers["kept"] == ["yes"])
      let parent = try #require(headers["traceparent"].first)
      #expect(headers["traceparent"].count == 1)
      #expect(parent.contains(try #require(spans.withLock { $0 }).traceID.description))
    }
    await telemetry.shutDown()
  }

  /// The context of a handler, wherever it runs and however it ends, is that of its tasks too, and of no other call.
  @Test(arguments: [false, true], ["x", "fail"])
  func theTasksOfAHandlerHaveItsContext(_ isElsewhere: Bool, _ text: String) async throws {
    let telemetry = try telemetry(tracing: true)
    let seen = Locked<[[String?]]>([])
    let echo = TracedEcho(inTasks: { context in
      @Sendable func current() -> String? {
        SpanContext.current.map { "\($0.traceID) \($0.spanID) \($0.isSampled)" }
      }
      async let child = current()
      let unstructured = Task { current() }
      let detached = Task.detached { current() }
      let inSpan = await telemetry.tracer.withSpan("step") { _ in SpanContext.current?.traceID.description }
      let other = await withCheckedContinuation { continuation in
        context.eventLoop.execute { Task { continuation.resume(returning: current()) } }
      }
      let found = [current(), await child, await unstructured.value, await detached.value ?? other, inSpan]
      seen.withLock { $0.append(found + [context.headers["traceparent"].first]) }
    })
    try await withEcho(echo, server: telemetry.observer(), client: telemetry.observer()) { server, _ in
      if isElsewhere { server.handlerPlacements.standard = .executor(globalConcurrentExecutor) }
    } _: { client, _ in
      for _ in 0..<3 { _ = await status { _ = try await client.get(.with { $0.text = text }) } }
    }
    let calls = seen.withLock { $0 }
    #expect(calls.count == 3)
    #expect(Set(calls.map { $0[0] }).count == 3)
    for call in calls {
      let own = try #require(call[0])
      #expect(call[1] == own && call[2] == own && call[3] == nil)
      let trace = String(own.prefix(32))
      #expect(own.hasSuffix(" false") && call[4] == trace)
      #expect(try #require(call[5]).hasPrefix("00-\(trace)-") && call[5]?.hasSuffix("-00") == true)
    }
    #expect(SpanContext.current == nil)
    await telemetry.shutDown()
  }

  /// Asks for the context of the task in which it is released.
  private final class Lease: Sendable {
    let end: @Sendable (SpanContext?) -> Void

    init(_ end: @escaping @Sendable (SpanContext?) -> Void) { self.end = end }

    deinit { end(SpanContext.current) }

    enum Key: UserInfoKey { typealias Value = Lease }
  }

  @Test func aValueOfTheCallMayAskForTheContextAtItsEnd() async throws {
    let telemetry = try telemetry(tracing: true)
    let seen = Locked(0)
    let echo = TracedEcho { context in
      for _ in 0..<2 {
        context.userInfo[Lease.Key.self] = Lease { current in seen.withLock { $0 += current == nil ? 0 : 1 } }
      }
      context.userInfo[Lease.Key.self] = nil
    }
    try await withEcho(echo, server: telemetry.observer(), client: telemetry.observer()) { client, _ in
      _ = try await client.get(.with { $0.text = "x" })
    }
    #expect(seen.withLock { $0 } == 2)
    await telemetry.shutDown()
  }

  @Test(arguments: [1, 2]) func duplicateTraceParentsAreIgnored(_ count: Int) async throws {
    let telemetry = try telemetry(tracing: true)
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
    let found = Locked<(headers: [String], trace: String?)>(([], nil))
    let echo = TracedEcho { context in
      found.withLock { $0 = (context.headers["traceparent"], SpanContext.current?.traceID.description) }
    }
    try await withEcho(echo, server: telemetry.observer(), client: nil) { client, _ in
      var options = CallOptions()
      options.initialMetadata = HPACKHeaders((0..<count).map { _ in ("traceparent", parent) })
      _ = try await client.get(.with { $0.text = "x" }, callOptions: options)
    }
    let (headers, trace) = found.withLock { $0 }
    #expect(headers == [String](repeating: parent, count: count))
    #expect((trace == "0af7651916cd43dd8448eb211c80319c") == (count == 1))
    await telemetry.shutDown()
  }

  @Test func bothTraceParentReadersAgree() throws {
    let valid = Array("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".utf8)
    for position in valid.indices {
      for byte in "0129afg-AF~ \u{0}".utf8 {
        var bytes = valid
        bytes[position] = byte
        let (quick, slow) = (
          bytes.withUnsafeBufferPointer { SpanIdentity(text: $0) }, TraceParent.read(bytes)
        )
        // Other versions are left to the slow one.
        guard bytes.starts(with: "00".utf8) else {
          #expect(quick == nil)
          continue
        }
        #expect((quick?.text ?? bytes) == bytes)
        #expect(quick?.traceID == slow?.0 && quick?.spanID == slow?.1 && quick?.isSampled == slow?.isSampled)
      }
    }
    #expect(valid.dropLast().withUnsafeBufferPointer { SpanIdentity(text: $0) } == nil)
  }
}
