import CallTestSupport
import EchoService
import EchoTestSupport
import HTTP2TestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardInterceptors
import Testing

@testable import SwitchboardTelemetry

/// What calls take over from the call that they are made for.
@Suite(.timeLimit(.minutes(5))) struct ContextTests {
  /// Calls through two servers: the first one passes on to the second what `propagation` says. The second tells what it sees.
  private func throughTwo(
    _ propagation: ContextPropagation,
    tracing: Bool = true,
    protocol wireProtocol: CallProtocol = .grpc,
    _ body: (Echo_EchoClient) async throws -> Void,
    seen: @escaping @Sendable (ServerCallContext) -> Void
  ) async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) {
      $0.tracesCalls = tracing
      $0.givesContext = true
    }
    let observer = telemetry.observer(passingOn: propagation)
    try await withEcho(TracedEcho(seen: seen), server: telemetry.observer(), client: observer) { second, _ in
      try await withEcho(TracedEcho(next: second), server: telemetry.observer(), client: nil) {
        $0.web = WebOptions()
        $1.wireProtocol = wireProtocol
      } _: { first, _ in
        try await body(first)
      }
    }
    await telemetry.shutDown()
  }

  @Test(arguments: [true, false], [CallProtocol.grpc, .grpcWeb, .connect])
  func deadlinesPropagateIfTheClientEnablesIt(_ tracing: Bool, _ wireProtocol: CallProtocol) async throws {
    for (propagation, isExpected) in [(.deadline, true), (.nothing, false)] as [(ContextPropagation, Bool)] {
      let seen = Locked<[Bool]>([])
      try await throughTwo(propagation, tracing: tracing, protocol: wireProtocol) { client in
        _ = try await client.get(.with { $0.text = "x" }, callOptions: CallOptions(timeout: .seconds(100)))
        _ = try await client.get(.with { $0.text = "x" })
      } seen: { context in
        seen.withLock { $0.append(context.deadline != nil) }
      }
      #expect(seen.withLock { $0 } == [isExpected, false])
    }
  }

  @Test func anEarlierDeadlineOfTheCallWins() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    let group = try LoopGroup()
    defer { group.shutDown() }
    let channel = ChannelTelemetry(telemetry.parts, [.deadline], "test", on: group.nextLoop())
    let caller = CallContext(.none, nil, nil, nil)
    let time = ManualTime()
    caller.deadline = time.deadline(after: .seconds(10))
    for (own, expected) in [(nil, 10), (5, 5), (20, 10)] as [(Int?, Int)] {
      var request = CallRequest(
        method: Echo_EchoMetadata.Methods.get.descriptor,
        options: nil,
        body: .message(MessageBuffer([UInt8]()))
      )
      request.deadline = own.map { time.deadline(after: .seconds($0)) }
      TaskContext.$current.withValue(TaskContext(caller)) { channel.callMade(&request) }
      #expect(request.deadline?.time == time.now + .seconds(expected))
    }
    await telemetry.shutDown()
  }

  /// A call without any options inherits a deadline all the same, and tells the next server, also through interceptors.
  @Test(arguments: [false, true]) func deadlinesNeedNoOptions(_ isIntercepted: Bool) async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    let seen = Locked<[Bool]>([])
    let second = TracedEcho(seen: { context in seen.withLock { $0.append(context.deadline != nil) } })
    try await withEcho(second, server: nil, client: telemetry.observer(passingOn: .deadline)) { _, channel in
      if isIntercepted { channel.interceptorFactories = [CallMetrics(CallMetricsTable())] }
    } _: { next, _ in
      let get = Echo_EchoMetadata.Methods.get
      let call =
        isIntercepted ? MethodClient(channel: next.channel).call(get) : MethodCall(get, on: next.channel)
      let first = TracedEcho(inTasks: { _ in
        _ = try? await call.unary(.with { $0.text = "x" })
      })
      try await withEcho(first, server: telemetry.observer(), client: nil) { client, _ in
        _ = try await client.get(.with { $0.text = "x" }, callOptions: CallOptions(timeout: .seconds(100)))
      }
    }
    #expect(seen.withLock { $0 } == [true])
    await telemetry.shutDown()
  }

  @Test(arguments: [Sampler.always, .never])
  func callsEndWithTheCallThatTheyAreMadeFor(_ sampler: Sampler) async throws {
    let (events, note) = AsyncStream.makeStream(of: GRPCStatus?.self)
    var notes = events.makeAsyncIterator()
    let telemetry = try Telemetry.capturing(CapturingExporter()) { $0.sampler = sampler }
    let observer = telemetry.observer(passingOn: .cancellation)
    // The inner call is not awaited by the handler, which so could not cancel it.
    try await withEcho(TracedEcho(), server: nil, client: observer) { inner, _ in
      let detached = DetachedEcho(inner: inner, note: note)
      var options = ServerOptions()
      options.observer = telemetry.observer()
      try await withChannel(to: [detached], options: options) { channel async throws in
        let client = Echo_EchoClient(channel: channel)
        let call = client.makeGetCall(.with { $0.text = "outer" })
        // It has begun.
        #expect(await notes.next() == .some(nil))
        call.cancel()
        #expect(await notes.next()??.code == .cancelled)
        _ = await call.status
      }
    }
    await telemetry.shutDown()
  }

  /// Whether or not a tracer follows the call beside its context.
  @Test(arguments: [false, true])
  func callsWithinTheProcessEndWithTheCallThatTheyAreMadeFor(_ countsCalls: Bool) async throws {
    let (events, note) = AsyncStream.makeStream(of: GRPCStatus?.self)
    var notes = events.makeAsyncIterator()
    let telemetry = try Telemetry.capturing(CapturingExporter()) {
      $0.sampler = .never
      $0.countsCalls = countsCalls
    }
    let observer = telemetry.observer(passingOn: .cancellation)
    try await withEcho(TracedEcho(), server: nil, client: observer) { inner, _ in
      var options = ServerOptions()
      options.observer = telemetry.observer()
      let detached = DetachedEcho(inner: inner, note: note)
      try await withChannel(try Channel(inProcess: [detached], options: options)) { channel async throws in
        let call = Echo_EchoClient(channel: channel).makeGetCall(.with { $0.text = "outer" })
        // It has begun.
        #expect(await notes.next() == .some(nil))
        call.cancel()
        #expect(await notes.next()??.code == .cancelled)
        _ = await call.status
      }
    }
    await telemetry.shutDown()
  }

  /// Within the process, a call may end before it begins: because the channel is shut down, or because the call that it is
  /// made for has ended.
  @Test(arguments: [true, false]) func callsThatDoNotBeginEnd(_ isShutDown: Bool) async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    var options = ChannelOptions()
    options.observer = telemetry.observer(passingOn: isShutDown ? .nothing : .cancellation)
    try await withChannel(try Channel(inProcess: [TracedEcho()], channelOptions: options)) {
      channel async throws in
      let client = Echo_EchoClient(channel: channel)
      if isShutDown { await channel.shutDown(grace: .zero) }
      let (outerEnds, outerEnded) = AsyncStream.makeStream(of: Never.self)
      let late = Locked<Task<GRPCStatus?, Never>?>(nil)
      let outer = TracedEcho { _ in
        let call = Task {
          for await _ in outerEnds {}
          return await status { _ = try await client.get(.with { $0.text = "x" }) }
        }
        late.withLock { $0 = call }
      }
      try await withEcho(outer, server: telemetry.observer(), client: nil) { client, _ in
        _ = try await client.get(.with { $0.text = "x" })
      }
      outerEnded.finish()
      let failure = await late.withLock { $0 }?.value
      #expect(failure?.code == (isShutDown ? .unavailable : .cancelled))
    }
    await telemetry.flush()
    #expect(Set(exporter.spans.map { $0.state.name.prefix { $0 != "." } }) == ["Recv", "Sent", "Attempt"])
    #expect(telemetry.drops[.traces]?.unended == 0)
    #expect(telemetry.lines("grpc_client_call_duration_seconds_count").count == 1)
    await telemetry.shutDown()
  }

  /// The context of a call that is not recorded is made when it is asked for, even if that is after the call.
  @Test func aTaskThatOutlivesItsCallHasItsContext() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) { $0.sampler = .never }
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let (events, note) = AsyncStream.makeStream(of: [String?].self)
    try await withEcho(TracedEcho(), server: nil, client: telemetry.observer(passingOn: .cancellation)) {
      inner,
      _ in
      let echo = TracedEcho { _ in
        Task {
          for await _ in gate {}
          let ids = [SpanContext.current, SpanContext.current].map { $0?.spanID.description }
          let trace = SpanContext.current?.traceID.description
          let end = await status { _ = try await inner.get(.with { $0.text = "wait" }) }
          note.yield(ids + [trace, end?.code.specName])
        }
      }
      try await withEcho(echo, server: telemetry.observer(), client: nil) { client, _ in
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
        let metadata: HPACKHeaders = ["traceparent": parent]
        _ = try await client.get(.with { $0.text = "x" }, callOptions: CallOptions(initialMetadata: metadata))
        open.finish()
        var found = events.makeAsyncIterator()
        let seen = try #require(await found.next())
        #expect(seen[0] == seen[1] && seen[0] != "b7ad6b7169203331")
        #expect(seen[2...] == ["0af7651916cd43dd8448eb211c80319c", "CANCELLED"])
      }
    }
    await telemetry.shutDown()
  }

  /// Their handlers share a task, until one suspends. Neither a handler that does, nor a task that outlives its call, sees
  /// the context of another.
  @Test(.mayBlock) func callsThatArriveTogetherHaveTheirOwnContexts() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) { $0.sampler = .never }
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let (events, note) = AsyncStream.makeStream(of: [String].self)
    @Sendable func look(_ context: ServerCallContext) -> String {
      // The caller names its trace in a header, too.
      let named = context.headers["trace"].first
      return named == SpanContext.current?.traceID.description ? "own" : "another"
    }
    let echo = TracedEcho { context in
      Task {
        for await _ in gate {}
        note.yield(["later", look(context)])
      }
    } inTasks: { context in
      let before = look(context)
      if context.headers["waits"].first != nil { await Task.yield() }
      async let child = look(context)
      note.yield([before, look(context), await child])
    }
    try await withEcho(echo, server: telemetry.observer(), client: nil) { _, address in
      let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
      let peer = try FramePeer(port: port)
      try #require(peer.settle())
      let count = 6
      peer.write(
        (1...count).flatMap { number in
          let trace = "0af7651916cd43dd8448eb211c8031" + "0\(number)"
          let fields = [("traceparent", "00-\(trace)-b7ad6b7169203331-00"), ("trace", trace)]
          let head = FramePeer.request("/echo.Echo/Get", fields + (number == 3 ? [("waits", "1")] : []))
          let id = UInt32(2 * number - 1)
          return FramePeer.frame(FramePeer.Kind.headers, 4, id, FramePeer.block(head))
            + FramePeer.frame(FramePeer.Kind.data, 1, id, [0, 0, 0, 0, 0])
        }
      )
      var found = events.makeAsyncIterator()
      for _ in 0..<count { #expect(await found.next() == ["own", "own", "own"]) }
      open.finish()
      for _ in 0..<count { #expect(await found.next() == ["later", "own"]) }
      withExtendedLifetime(peer) {}
    }
    await telemetry.shutDown()
  }

  /// Its task is not the one in which the interceptor received the request.
  @Test func aHandlerThatAnInterceptorDelaysHasItsContext() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) { $0.sampler = .never }
    let seen = Locked<[String?]>([])
    let echo = TracedEcho { _ in seen.withLock { $0.append(SpanContext.current?.traceID.description) } }
    try await withEcho(echo, server: telemetry.observer(), client: nil) { options, _ in
      options.interceptorFactories = [DelayingInterceptors()]
    } _: { client, _ in
      let metadata: HPACKHeaders = ["traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"]
      _ = try await client.get(.with { $0.text = "x" }, callOptions: CallOptions(initialMetadata: metadata))
    }
    #expect(seen.withLock { $0 } == ["0af7651916cd43dd8448eb211c80319c"])
    await telemetry.shutDown()
  }

  @Test func baggageAndChosenMetadataTravel() async throws {
    for propagation in [[.baggage, .metadata("tenant", "absent")], .nothing] as [ContextPropagation] {
      let seen = Locked<[[String]]>([])
      try await throughTwo(propagation) { client in
        let metadata: HPACKHeaders = ["baggage": "user=ada%20l;p=1,bad;,=x", "tenant": "blue", "other": "no"]
        _ = try await client.get(.with { $0.text = "x" }, callOptions: CallOptions(initialMetadata: metadata))
      } seen: { context in
        seen.withLock {
          $0.append(context.headers["baggage"] + context.headers["tenant"] + context.headers["other"])
        }
      }
      #expect(seen.withLock { $0 } == [propagation == .nothing ? [] : ["user=ada%20l;p=1", "blue"]])
    }
  }

  @Test func aProgramSetsBaggageForItsCalls() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    let seen = Locked<[Baggage]>([])
    let echo = TracedEcho { _ in seen.withLock { $0.append(Baggage.current) } }
    try await withEcho(echo, server: telemetry.observer(), client: telemetry.observer(passingOn: .baggage)) {
      client,
      _ in
      try await Baggage().setting("tenant", to: "grün").inTask {
        _ = try await client.get(.with { $0.text = "x" })
      }
      _ = try await client.get(.with { $0.text = "x" })
    }
    #expect(seen.withLock { $0.map { $0["tenant"] } } == ["grün", nil])
    await telemetry.shutDown()
  }
}

/// Starts a call that it does not wait for, and waits itself.
private struct DetachedEcho: EchoingProvider {
  let inner: Echo_EchoClient
  let note: AsyncStream<GRPCStatus?>.Continuation

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    let call = inner.makeGetCall(.with { $0.text = "wait" })
    Task.detached { note.yield(await call.status) }
    note.yield(nil)
    try await Task.sleep(for: .seconds(60))
    return Echo_EchoResponse()
  }
}

private struct DelayingInterceptors: ServerInterceptorFactory {
  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] { [DelayingInterceptor()] }
}

/// Passes the end of each request in the loop's next turn.
private final class DelayingInterceptor<Request: Sendable, Response: Sendable>:
  ServerInterceptor<Request, Response>
{
  override func receive(
    _ part: GRPCServerRequestPart<Request>,
    context: ServerInterceptorContext<Request, Response>
  ) {
    guard case .end = part else { return context.receive(part) }
    context.eventLoop.execute { context.receive(.end) }
  }
}
