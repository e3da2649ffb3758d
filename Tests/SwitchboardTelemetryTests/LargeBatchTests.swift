import CallTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardProtobuf
import Testing

@testable import SwitchboardTelemetry

/// Batches that are too large for a request, or for the collector.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LargeBatchTests {
  /// Takes what has up to this many bytes as protobuf.
  private final class LimitedExporter: BatchExporter {
    let destination = "the collector"
    let byteLimit: Locked<Int>
    /// The bytes of each request, and what was in those that were taken.
    let sizes = Locked<[Int]>([])
    let taken = Locked<[ExportBatch]>([])

    init(byteLimit: Int = .max) { self.byteLimit = Locked(byteLimit) }

    func export(_ batch: ExportBatch, within limit: Duration?) async -> ExportResult {
      let resource = Resource(serviceName: "test", attributes: [:])
      let encoder = OTLPEncoder(clock: TelemetryClock(), isForJSON: false)
      let size = (try? OTLPRequest(batch, resource, encoder).message.serializedBytes().count) ?? 0
      sizes.withLock { $0.append(size) }
      guard size <= byteLimit.withLock({ $0 }) else { return .tooLarge("it is too large") }
      taken.withLock { $0.append(batch) }
      return .whole
    }

    func shutDown() async {}

    var takenCount: Int { taken.withLock { $0.reduce(0) { $0 + $1.count } } }
  }

  private func lane(_ exporter: LimitedExporter, _ signal: TelemetrySignal, _ log: LogEntries) throws
    -> ExportLane
  {
    let time = ExportTime(loop: try LoopGroup().nextLoop(), time: ManualTime())
    return ExportLane(exporter, signal, time, limit: .seconds(60), Logger(log))
  }

  private func logs(_ sizes: [Int]) -> ExportBatch {
    .logs(
      sizes.map {
        LogRecord(
          date: 0,
          level: .info,
          message: String(repeating: "x", count: $0),
          attributes: [],
          context: nil
        )
      }
    )
  }

  /// Four histograms with 2000 series each, as one program may have them.
  private var histograms: MetricSnapshot {
    var snapshot = MetricSnapshot(start: 1, date: 2)
    for name in ["a", "b", "c", "d"] {
      let descriptor = MetricDescriptor(name, .histogram, unit: "s", "a duration")
      let points = (0..<2000).map { number in
        MetricPoint(
          attributes: [Attribute("method", .string("shop.Checkout/Method\(number)"))],
          value: .histogram(
            HistogramValue(
              bounds: (0..<41).map(Double.init),
              counts: (0..<42).map(UInt64.init),
              sum: 1,
              exemplars: [:]
            )
          )
        )
      }
      snapshot.families.append(MetricFamily(descriptor: descriptor, points: points))
    }
    return snapshot
  }

  // MARK: Before a collector refuses

  /// A server of gRPC, such as this collector, takes 4 MiB.
  @Test func largeSpansReachACollectorWithTheUsualLimit() async throws {
    let provider = ScriptedGRPCCollector([])
    try await withServer([provider]) { _, address async throws in
      let port = address.port
      var options = TelemetryOptions(serviceName: "test")
      options.exporters = [.otlp(OTLPOptions(endpoint: "http://127.0.0.1:\(port)"), [.traces])]
      let telemetry = try Telemetry(options)
      for _ in 0..<250 {
        let span = telemetry.tracer.startSpan("large")
        for number in 0..<5 { span.set("key\(number)", .string(String(repeating: "x", count: 4000))) }
        span.end()
      }
      await telemetry.shutDown()
      #expect(telemetry.drops[.traces] == TelemetryDrops())
      #expect(provider.spanCount.withLock { $0 } == 250)
    }
  }

  @Test func aRequestHasALimitedSize() async throws {
    let exporter = LimitedExporter()
    let log = LogEntries()
    try await lane(exporter, .logs, log).export(logs([Int](repeating: 8000, count: 512)))
    try await lane(exporter, .metrics, log).export(.metrics(histograms))
    #expect(exporter.takenCount == 512 + 8000)
    let sizes = exporter.sizes.withLock { $0 }
    #expect(sizes.allSatisfy { (500_000...2 << 20).contains($0) }, "\(sizes)")
    // A single item is sent, whatever its size.
    try await lane(exporter, .logs, log).export(logs([5 << 20]))
    #expect(exporter.takenCount == 512 + 8001)
    #expect(log.lines.withLock { $0 } == [])
  }

  @Test func pointsOfADividedMetricKeepWhatItIs() async throws {
    let exporter = LimitedExporter()
    try await lane(exporter, .metrics, LogEntries()).export(.metrics(histograms))
    var names: [String: Set<[Attribute]>] = [:]
    for case .metrics(let snapshot) in exporter.taken.withLock({ $0 }) {
      #expect((snapshot.start, snapshot.date) == (1, 2))
      for family in snapshot.families {
        #expect((family.descriptor.kind, family.descriptor.unit) == (.histogram, "s"))
        names[family.descriptor.name, default: []].formUnion(family.points.map(\.attributes))
      }
    }
    #expect(names.mapValues(\.count) == ["a": 2000, "b": 2000, "c": 2000, "d": 2000])
  }

  // MARK: After a collector has refused

  @Test func whatACollectorFindsTooLargeIsDivided() async throws {
    let exporter = LimitedExporter(byteLimit: 10_000)
    let log = LogEntries()
    let lane = try lane(exporter, .logs, log)
    var sizes = [Int](repeating: 500, count: 100)
    sizes[37] = 20_000
    await lane.export(logs(sizes))
    // Only the one that is too large by itself is lost.
    #expect(exporter.takenCount == 99)
    #expect(lane.lostCount == 1)
    #expect(
      log.lines.withLock { $0 } == [
        "warning: logs are lost: cannot export to the collector: it is too large",
        "warning: logs are exported to the collector again: ",
      ]
    )
  }

  @Test func aCollectorThatRefusesAnySizeGetsFewRequests() async throws {
    let exporter = LimitedExporter(byteLimit: 0)
    let lane = try lane(exporter, .logs, LogEntries())
    await lane.export(logs([Int](repeating: 10, count: 512)))
    // Ten halves of halves, and what is left of each.
    #expect(exporter.sizes.withLock { $0.count } == 19)
    for _ in 0..<3 { await lane.export(logs([Int](repeating: 10, count: 512))) }
    #expect(exporter.sizes.withLock { $0.count } == 22)
    #expect(lane.lostCount == 4 * 512)
    // Once it takes something, dividing may help again.
    exporter.byteLimit.withLock { $0 = 1000 }
    await lane.export(logs([10]))
    await lane.export(logs([Int](repeating: 10, count: 512)))
    #expect(exporter.takenCount == 513)
  }

  @Test func aGRPCCollectorThatRefusesASizeGetsHalves() async throws {
    let provider = ScriptedGRPCCollector([GRPCStatus(code: .resourceExhausted, message: "too large")])
    try await withServer([provider]) { _, address async throws in
      let port = address.port
      var options = TelemetryOptions(serviceName: "test")
      options.exporters = [.otlp(OTLPOptions(endpoint: "http://127.0.0.1:\(port)"), [.traces])]
      let telemetry = try Telemetry(options)
      for _ in 0..<5 { telemetry.tracer.startSpan("span").end() }
      await telemetry.shutDown()
      #expect(provider.spanCount.withLock { $0 } == 5)
      #expect(telemetry.drops[.traces] == TelemetryDrops())
    }
  }

  @Test(arguments: [OTLPOptions.Transport.http, .httpJSON])
  func anHTTPCollectorThatRefusesASizeGetsHalves(_ transport: OTLPOptions.Transport) async throws {
    let socket = try ScriptedSocket()
    var options = TelemetryOptions(serviceName: "test")
    let otlp = OTLPOptions(endpoint: "http://127.0.0.1:\(socket.port)", transport: transport)
    options.exporters = [.otlp(otlp, [.traces])]
    let telemetry = try Telemetry(options)
    for _ in 0..<5 { telemetry.tracer.startSpan("span").end() }
    let end = Task { await telemetry.shutDown() }
    for status in ["413 x", "200 x", "200 x"] {
      await socket.answer("HTTP/1.1 \(status)\r\ncontent-length: 0\r\n\r\n")
    }
    await end.value
    #expect(telemetry.drops[.traces] == TelemetryDrops())
  }
}
