import CallTestSupport
import ConsoleMessages
import EchoService
import EchoTestSupport
import HTTP2TestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardTelemetry
import SwitchboardTransport
import TestSupport
import Testing

@testable import SwitchboardConsole

/// An interceptor that passes everything on.
private final class PassingOn<Request: Sendable, Response: Sendable>: ServerInterceptor<Request, Response> {}

private struct PassingOnFactory: ServerInterceptorFactory {
  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] { [PassingOn()] }
}

/// A service whose handlers wait until they are let go.
private struct HeldEcho: EchoingProvider {
  let gate = OneShot<Void>()

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    try await gate.value()
    return .with { $0.text = request.text }
  }
}

/// A service that fails a few times, and then works.
private final class RecoveringEcho: EchoingProvider {
  private let left: Locked<Int>

  init(failures: Int) { left = Locked(failures) }

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    let fails = left.withLock { left in
      left -= 1
      return left >= 0
    }
    if fails { throw GRPCStatus(code: .unavailable, message: "not yet") }
    return .with { $0.text = request.text }
  }
}

/// Single calls, as the view shows them, with real servers and calls.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct CallsViewTests {
  private static let hostile = "<img src=x onerror=hacked>"

  private let telemetry: Telemetry
  private let time = ManualTime()
  private let console: Console
  private let views: ConsoleViews

  init() throws {
    var telemetryOptions = TelemetryOptions(serviceName: "shop")
    // Calls have traces, of which none is recorded.
    telemetryOptions.exporters = [.spans { _ in }]
    telemetryOptions.sampler = .never
    telemetry = try Telemetry(telemetryOptions)
    var options = ConsoleOptions()
    options.logger = .quiet
    options.shownMetadata.append("shown")
    options.traceLink = "https://traces.example/{trace}?span={span}"
    console = try Console(telemetry, options, time: time, watches: false)
    views = console.views
  }

  private func calls(_ query: String = "") async throws -> Switchboard_Console_V1_CallsView {
    let view = try #require(views.all.first { type(of: $0).name == "calls" } as? CallsView)
    return await view.answer(try ViewQuery(query))
  }

  private var serverOptions: ServerOptions {
    var options = ServerOptions()
    options.observer = telemetry.observer()
    options.interceptorFactories = [PassingOnFactory()]
    return options
  }

  private var channelOptions: ChannelOptions {
    var options = ChannelOptions()
    options.observer = telemetry.observer()
    return options
  }

  private func end() async {
    await console.shutDown()
    await telemetry.shutDown()
  }

  @Test func callsOfBothSidesAreShown() async throws {
    try await withPair([FailingEcho()], options: serverOptions, channel: channelOptions) {
      pair async throws in
      let client = Echo_EchoClient(channel: pair.channel)
      var options = CallOptions()
      options.initialMetadata = ["shown": Self.hostile, "authorization": "Bearer secret", "key-bin": "AAAA"]
      _ = try await client.get(.with { $0.text = "x" }, callOptions: options)
      do { _ = try await client.get(.with { $0.text = "fail" }, callOptions: options) } catch {}
      await pair.server.untilNoCallIsOpen()
      let slowest = try await calls()
      #expect(slowest.callCount == 2 && Set(slowest.calls.map(\.status)) == ["OK", "ABORTED"])
      #expect(
        slowest.calls.allSatisfy { $0.method == "echo.Echo/Get" && $0.seconds > 0 && !$0.hasTimeline_p }
      )
      #expect(slowest.calls.allSatisfy { $0.peer.contains("127.0.0.1") && $0.traceID.utf8.count == 32 })
      let failed = try await calls(
        "kind=failed&selected=\(slowest.calls.first { $0.status != "OK" }?.id ?? "")"
      )
      #expect(failed.calls.map(\.status) == ["ABORTED"])
      let detail = failed.selected
      #expect(detail.message == "as it was asked to")
      #expect(detail.traceLink == "https://traces.example/\(detail.call.traceID)?span=\(detail.spanID)")
      #expect(detail.received.messages == 1 && detail.sent.messages == 0)
      let fields = Dictionary(detail.metadata.map { ($0.name, $0) }) { first, _ in first }
      #expect(fields["shown"].map { $0.value == Self.hostile && $0.isShown && $0.length == 26 } == true)
      #expect(fields["authorization"].map { $0.value.isEmpty && !$0.isShown && $0.length == 13 } == true)
      #expect(fields["key-bin"].map { $0.value.isEmpty && !$0.isShown } == true)
      #expect(try !failed.jsonString().contains("secret"))
      let sent = try await calls("side=client&filter=aborted")
      #expect(sent.calls.map(\.target) == ["\(pair.address)"] && sent.calls.map(\.attempts) == [1])
      #expect(sent.calls.first?.peer == "127.0.0.1:\(pair.address.port)", "\(sent)")
      #expect(try await calls("filter=nothing").callCount == 0)
      #expect(try await calls("bucket=10s").callCount == 0)
      #expect(try await calls("selected=server-0").hasSelected == false)
    }
    await end()
  }

  /// Calls that begin while somebody looks have timelines: of each kind, with and without interceptors.
  @Test(arguments: [false, true]) func aTimelineHasTheStages(hasInterceptors: Bool) async throws {
    var options = serverOptions
    if !hasInterceptors { options.interceptorFactories = [] }
    try await withPair([FailingEcho()], options: options) { pair async throws in
      _ = try await calls()
      let client = Echo_EchoClient(channel: pair.channel)
      let answer = try await client.get(.with { $0.text = "x" })
      #expect(answer.text == "x")
      var words: [Echo_EchoResponse] = []
      for try await word in client.expand(.with { $0.text = "a b" }) { words.append(word) }
      #expect(words.map(\.text) == ["a", "b"])
      let collected = try await client.collect([.with { $0.text = "c" }, .with { $0.text = "d" }])
      #expect(collected.text == "c d")
      do { _ = try await client.get(.with { $0.text = "fail" }) } catch {}
      await pair.server.untilNoCallIsOpen()
      let timed = try await calls("kind=timed")
      #expect(timed.callCount == 4)
      var lanes: [String: Set<String>] = [:]
      for call in timed.calls {
        let detail = try await calls("kind=timed&selected=\(call.id)").selected
        #expect(detail.call.hasTimeline_p && detail.stages.allSatisfy { !$0.isOpen })
        let end = detail.call.seconds + 0.001
        #expect(
          detail.stages.allSatisfy { $0.spans.allSatisfy { $0.start >= 0 && $0.start + $0.seconds <= end } }
        )
        lanes["\(call.method) \(call.status)"] = Set(detail.stages.map(\.name)).subtracting(["Queue", "Send"])
      }
      let passing: Set<String> = hasInterceptors ? ["Interceptor PassingOn"] : []
      let all = passing.union(["Request", "Decode", "Handler", "Encode"])
      #expect(
        lanes == [
          "echo.Echo/Get OK": all, "echo.Echo/Expand OK": all, "echo.Echo/Collect OK": all,
          "echo.Echo/Get ABORTED": all.subtracting(["Encode"]),
        ]
      )
    }
    await end()
  }

  @Test func callsInProgressAreShownWithWhatTheyWaitFor() async throws {
    let held = HeldEcho()
    try await withPair([held], options: serverOptions, channel: channelOptions) { pair async throws in
      console.add(pair.server, name: "front")
      console.add(pair.channel, name: "back")
      let client = Echo_EchoClient(channel: pair.channel)
      async let first = client.get(.with { $0.text = "1" })
      while try await calls("kind=under_way").callCount == 0, !Task.isCancelled { await Task.yield() }
      async let second = client.get(.with { $0.text = "2" })
      while try await calls("kind=under_way").callCount == 1, !Task.isCancelled { await Task.yield() }
      let view = try await calls("kind=under_way&filter=get")
      #expect(view.calls.map(\.waitsFor) == ["the handler", "the handler"] && view.silent.isEmpty)
      #expect(view.calls.map(\.status) == ["", ""])
      #expect(view.calls.first.map(\.seconds) ?? 0 >= view.calls.last.map(\.seconds) ?? 1)
      let id = try #require(view.calls.last?.id)
      let detail = try await calls("kind=under_way&selected=\(id)").selected
      #expect(detail.stages.last.map { $0.name == "Handler" && $0.isOpen } == true)
      let sent = try await calls("kind=under_way&side=client")
      #expect(sent.calls.map(\.waitsFor) == ["the response", "the response"])
      #expect(
        sent.calls.allSatisfy {
          $0.target == "\(pair.address)" && $0.peer == "127.0.0.1:\(pair.address.port)"
        }
      )
      #expect(try await calls("kind=under_way&filter=nothing").callCount == 0)
      var counts: [UInt32] = []
      for bucket in ["under_1ms", "1ms", "10ms", "100ms", "1s", "10s"] {
        counts.append(try await calls("kind=under_way&bucket=\(bucket)").callCount)
      }
      // The calls grow older meanwhile.
      #expect(counts.reduce(0, +) >= 2 && counts.allSatisfy { $0 <= 2 })
      held.gate.settle(.success(()))
      _ = try await (first, second)
      await pair.server.untilNoCallIsOpen()
      #expect(try await calls("kind=under_way").callCount == 0)
      // Whoever looks at it sees how it ended.
      let ended = try await calls("kind=under_way&selected=\(id)").selected
      #expect(ended.call.status == "OK" && ended.stages.allSatisfy { !$0.isOpen })
    }
    await end()
  }

  @Test func aRetriedCallHasItsAttempts() async throws {
    let recovering = RecoveringEcho(failures: 2)
    var options = channelOptions
    options.serviceConfig = try ServiceConfig(
      json: """
        {"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.001s",
        "maxBackoff": "0.001s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]}
        """
    )
    try await withPair([recovering], channel: options) { pair async throws in
      _ = try await Echo_EchoClient(channel: pair.channel).get(.with { $0.text = "x" })
      let view = try await calls("side=client")
      let detail = try await calls("side=client&selected=\(view.calls.first?.id ?? "")").selected
      #expect(detail.attempts.map(\.status) == ["UNAVAILABLE", "UNAVAILABLE", "OK"])
      #expect(
        detail.attempts.allSatisfy { $0.server == "127.0.0.1:\(pair.address.port)" && $0.picked >= $0.start },
        "\(detail.attempts)"
      )
      #expect(detail.call.attempts == 3 && detail.call.status == "OK")
    }
    await end()
  }

  @Test func aHedgedCallHasItsAttempts() async throws {
    let held = HeldEcho()
    var options = channelOptions
    options.serviceConfig = try ServiceConfig(
      json: """
        {"methodConfig": [{"name": [{}], "hedgingPolicy": {"maxAttempts": 2, "hedgingDelay": "0s"}}]}
        """
    )
    try await withPair([held], channel: options) { pair async throws in
      async let answer = Echo_EchoClient(channel: pair.channel).get(.with { $0.text = "x" })
      await pair.channel.until { $0.calls.started == 2 }
      held.gate.settle(.success(()))
      _ = try await answer
      while try await calls("side=client").callCount == 0, !Task.isCancelled { await Task.yield() }
      let view = try await calls("side=client")
      let detail = try await calls("side=client&selected=\(view.calls.first?.id ?? "")").selected
      #expect(Set(detail.attempts.map(\.status)) == ["OK", "CANCELLED"], "\(detail.attempts)")
    }
    await end()
  }

  /// A call that no server can be reached for, while somebody looks.
  @Test func aCallWithoutAServerSaysSo() async throws {
    _ = try await calls()
    var options = channelOptions
    options.waitForReady = true
    let channel = try Channel(target: "127.0.0.1:1", options: options)
    console.add(channel, name: "nowhere")
    let client = Echo_EchoClient(channel: channel)
    let call = Task { try await client.get(.with { $0.text = "x" }) }
    while try await calls("side=client&kind=under_way").callCount == 0, !Task.isCancelled {
      await Task.yield()
    }
    let view = try await calls("side=client&kind=under_way")
    #expect(view.calls.map(\.waitsFor) == ["a server"] && view.calls.map(\.peer) == [""])
    call.cancel()
    _ = await call.result
    while try await calls("side=client&kind=failed").callCount == 0, !Task.isCancelled { await Task.yield() }
    let failed = try await calls("side=client&kind=failed")
    #expect(failed.calls.map(\.status) == ["CANCELLED"] && failed.calls.map(\.peer) == [""])
    await channel.shutDown(grace: .zero)
    await end()
  }

  @Test func withoutTelemetryItSaysWhatIsMissing() async throws {
    var options = ConsoleOptions()
    options.logger = .quiet
    let other = try Console(nil, options, time: time, watches: false)
    let view = try #require(other.views.all.first { type(of: $0).name == "calls" } as? CallsView)
    #expect(await view.answer(try ViewQuery(nil)).missing.contains("Console(telemetry:)"))
    await other.shutDown()
    await end()
  }

  /// Sampled calls, which have a tracer of their own anyway, are kept as well.
  @Test func aFloodOfCallsIsBounded() async throws {
    try await withPair([FailingEcho()], options: serverOptions) { pair async throws in
      let client = Echo_EchoClient(channel: pair.channel)
      _ = try await calls()
      await withTaskGroup { group in
        for number in 0..<2000 {
          group.addTask { _ = try? await client.get(.with { $0.text = number % 2 == 0 ? "fail" : "x" }) }
        }
      }
      await pair.server.untilNoCallIsOpen()
      #expect(try await calls("kind=slowest&count=200").callCount == UInt32(MethodCalls.mostSlow))
      #expect(try await calls("kind=failed&count=200").callCount <= UInt32(MethodCalls.mostFailed))
      #expect(
        try await calls("kind=timed&count=200").callCount
          <= UInt32(MethodCalls.mostTimed * LatencyBucket.allCases.count)
      )
    }
    await end()
  }
}
