import BridgeStandIns
import EchoService
import EchoTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardTelemetry
import Testing

/// The bridges to what Swift servers use, over stand-ins with those packages' signatures.
@Suite(.timeLimit(.minutes(5))) struct BridgeTests {
  private final class Entries: SwitchboardCall.LogHandler {
    let all = Locked<[String]>([])

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      let details = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
      all.withLock { $0.append("\(level) \(message)\(details)") }
    }
  }

  private func lines(_ telemetry: Telemetry, _ prefix: String) -> [String] {
    telemetry.metricsText().text.split(separator: "\n").map(String.init).filter { $0.hasPrefix(prefix) }
  }

  @Test func entriesPassInBothDirections() {
    let entries = Entries()
    var logger = SwiftLogger(label: "shop") { SwiftLogInput($0, into: entries) }
    logger.handler[metadataKey: "a"] = .string("1")
    logger.handler.metadataProvider = .init {
      ["b": .array([.string("2"), .stringConvertible(3)]), "a": .string("lost")]
    }
    logger.log(level: .critical, "down \(4)", metadata: ["a": .string("own")])
    logger.log(level: .notice, "failed", error: CancellationError())
    // Ours into swift-log's, and back.
    SwitchboardCall.Logger(SwiftLogOutput(logger), minimumLevel: .trace).log(.debug, "there", ["c": "5"])
    #expect(
      entries.all.withLock { $0 } == [
        "error down 4 a=own b=[\"2\", \"3\"] logger=shop",
        "info failed a=lost b=[\"2\", \"3\"] error=CancellationError() logger=shop",
        "debug there a=lost b=[\"2\", \"3\"] c=5 logger=shop",
      ]
    )
    var other = logger
    other.handler.logLevel = .error
    #expect(logger.handler.logLevel == .info)
  }

  @Test func metricsOfOtherLibrariesAreShown() async throws {
    let telemetry = try Telemetry(TelemetryOptions())
    let factory = TelemetryMetricsFactory(telemetry)
    let dimensions = [("path", "/a"), ("path", "/b")]
    factory.makeCounter(label: "hits", dimensions: dimensions).increment(by: Int64(3))
    factory.makeFloatingPointCounter(label: "hits", dimensions: dimensions).increment(by: 0.5)
    let meter = factory.makeMeter(label: "level", dimensions: [])
    meter.set(Int64(5))
    meter.decrement(by: 1.5)
    factory.makeRecorder(label: "sizes", dimensions: [], aggregate: true).record(Int64(7))
    factory.makeRecorder(label: "last", dimensions: [], aggregate: false).record(9.5)
    factory.makeTimer(label: "took", dimensions: []).recordNanoseconds(2_000_000)
    #expect(lines(telemetry, "hits") == ["hits_total{path=\"/b\"} 3.5"])
    #expect(lines(telemetry, "level") == ["level 3.5"])
    #expect(lines(telemetry, "last") == ["last 9.5"])
    #expect(lines(telemetry, "sizes_sum") == ["sizes_sum 7"])
    #expect(lines(telemetry, "took_seconds_sum") == ["took_seconds_sum 0.002"])
    await telemetry.shutDown()
  }

  private struct Now: TracerInstant {
    var nanosecondsSinceEpoch: UInt64 = 1_700_000_000_000_000_000
    static func < (left: Now, right: Now) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
  }

  private struct Fields: Extractor, Injector {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
      carrier[key] = value
    }
  }

  private struct Silent: EchoingProvider {
    let seen: @Sendable (String?) -> Void

    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      seen(context.headers.first(name: "traceparent"))
      return Echo_EchoResponse()
    }
  }

  @Test func spansOfOtherLibrariesAreInTheTracesOfCalls() async throws {
    var options = TelemetryOptions()
    let finished = Locked<[FinishedSpan]>([])
    options.exporters = [.spans { spans in finished.withLock { $0 += spans } }]
    options.spanOfTask = TelemetryTracer.spanOfTask
    let telemetry = try Telemetry(options)
    let tracer = TelemetryTracer(telemetry)
    let remote = [
      "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "a=b",
    ]
    var context = ServiceContext.topLevel
    tracer.extract(remote, into: &context, using: Fields())
    let span = tracer.startSpan(
      "step",
      context: context,
      ofKind: .internal,
      at: Now(),
      function: "",
      file: "",
      line: 0
    )
    span.setStatus(SpanStatus(code: .error, message: "broken"))
    span.attributes = SpanAttributes(["n": .int64(1)])
    span.addEvent(SpanEvent(name: "half", at: Now()))
    span.recordError(CancellationError(), attributes: SpanAttributes([:]), at: Now())
    var carrier: [String: String] = [:]
    tracer.inject(span.context, into: &carrier, using: Fields())
    #expect(carrier["traceparent"]?.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736-") == true)
    #expect(carrier["traceparent"] != remote["traceparent"])
    #expect(carrier["tracestate"] == "a=b")

    let seen = Locked<String?>(nil)
    var channelOptions = ChannelOptions()
    channelOptions.observer = telemetry.observer()
    let channel = try Channel(
      inProcess: [Silent { header in seen.withLock { $0 = header } }],
      channelOptions: channelOptions
    )
    _ = try await ServiceContext.$current.withValue(span.context) {
      try await Echo_EchoClient(channel: channel).get(Echo_EchoRequest())
    }
    #expect(seen.withLock { $0 }?.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736-") == true)
    // Dates are the caller's, also those before the system was started.
    span.end(at: Now(nanosecondsSinceEpoch: 1_700_000_000_000_000_500))
    #expect(!span.isRecording)
    let early = tracer.startSpan(
      "early",
      context: context,
      ofKind: .internal,
      at: Now(),
      function: "",
      file: "",
      line: 0
    )
    early.end(at: Now(nanosecondsSinceEpoch: 5))
    await telemetry.shutDown()
    let times = finished.withLock { $0 }
      .map { ($0.name, $0.start, $0.end) }
    let begin: UInt64 = 1_700_000_000_000_000_000
    #expect(times.first { $0.0 == "step" }.map { [$0.1, $0.2] } == [begin, begin + 500])
    #expect(times.first { $0.0 == "early" }.map { [$0.1, $0.2] } == [begin, begin])
  }

  @Test func aServerIsAServiceThatEndsGracefully() async throws {
    let server = try Server(providers: [Silent { _ in }])
    let address = try server.bind(host: "127.0.0.1", port: 0)
    let group = StandInGroup()
    let running = Task { try await group.run(ServerService(server)) }
    let client = Echo_EchoClient(channel: try Channel(target: "\(address)"))
    _ = try await client.get(Echo_EchoRequest())
    group.shutDown()
    try await running.value
    await #expect(throws: GRPCStatus.self) { try await client.get(Echo_EchoRequest()) }
    await client.channel.shutDown(grace: .zero)
  }
}
