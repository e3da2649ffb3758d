import CallTestSupport
import OTLPMessages
import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// What a collector may answer, and options that ask for the impossible.
@Suite(.timeLimit(.minutes(5))) struct HostileCollectorTests {
  /// Counts how often somebody sleeps.
  private final class CountedTime: CallTime {
    let sleeps = Locked(0)
    let system = SystemTime()

    var now: ContinuousClock.Instant { system.now }
    func sleep(until time: ContinuousClock.Instant) async throws {
      sleeps.withLock { $0 += 1 }
      try await system.sleep(until: time)
    }
  }

  @Test func aCollectorMayRejectMoreThanThereIs() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    for _ in 0..<3 {
      // Metrics may be exported first.
      let answer = ExportResult(
        OTLPTraceResponse.with {
          $0.partialSuccess = .with {
            ($0.rejectedSpans, $0.errorMessage) = (.max, "all of them, and then some")
          }
        }
      )
      exporter.answer([ExportResult](repeating: answer, count: 5))
      for _ in 0..<2 { telemetry.tracer.startSpan("span").end() }
      await telemetry.flush()
    }
    #expect(telemetry.drops[.traces]?.notExported == 6)
    await telemetry.shutDown()
  }

  @Test func retryDelaysHaveAMinimum() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    exporter.answer([ExportResult](repeating: .retry(after: .zero, "now"), count: 100_000))
    telemetry.tracer.startSpan("span").end()
    let took = await ContinuousClock().measure { await telemetry.flush(within: .milliseconds(300)) }
    // The pauses begin with 0.8 s at least.
    #expect(exporter.attempts <= 1 + Int(took / .milliseconds(800)))
    exporter.answer([])
    await telemetry.shutDown(within: .zero)
  }

  @Test func aZeroDelayDoesNotSpin() async throws {
    let time = CountedTime()
    var options = TelemetryOptions()
    options.batch.delay = .zero
    let telemetry = try Telemetry(
      options,
      clock: TelemetryClock(),
      ids: IDGenerator(),
      time: time,
      exporters: [CapturingExporter()]
    )
    let took = try await ContinuousClock().measure { try await Task.sleep(for: .milliseconds(200)) }
    // One for each of two queues every ten milliseconds, and some room.
    #expect(time.sleeps.withLock { $0 } < 40 + 5 * Int(took / .milliseconds(10)))
    await telemetry.shutDown()
  }

  @Test(arguments: [Duration.zero, .seconds(-5), .milliseconds(99)])
  func metricsAreNotExportedWithoutAPause(_ interval: Duration) {
    var options = TelemetryOptions()
    options.metricInterval = interval
    let failure = #expect(throws: GRPCStatus.self) { try Telemetry(options) }
    #expect(failure?.code == .invalidArgument)
    let start = "metricInterval is \(interval): it must be at least 0.1 seconds, because"
    #expect(failure?.message?.hasPrefix(start) == true, "\(failure?.message ?? "")")
  }

  @Test(arguments: [5, Int.max]) func theBatchSizeIsLimitedToTheQueueSize(_ size: Int) async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter) {
      $0.batch.batchSize = size
      $0.batch.queueSize = 4
    }
    for _ in 0..<4 { telemetry.tracer.startSpan("span").end() }
    // Without a flush: a batch is whole.
    while exporter.spans.count < 4 { try await Task.sleep(for: .milliseconds(1)) }
    await telemetry.shutDown()
  }

  /// Ends more spans while the first batch is exported.
  private final class AddingExporter: BatchExporter {
    let destination = "the collector"
    private let sizes = Locked<[Int]>([])
    let telemetry = Locked<Telemetry?>(nil)

    func export(_ batch: ExportBatch, within limit: Duration?) async -> ExportResult {
      guard batch.signal == .traces else { return .whole }
      let isFirst = sizes.withLock { sizes in
        sizes.append(batch.count)
        return sizes.count == 1
      }
      if isFirst { telemetry.withLock { $0 }?.tracer.startSpan("during").end() }
      return .whole
    }

    func shutDown() async {}
    var allSizes: [Int] { sizes.withLock { $0 } }
  }

  @Test func itemsDuringAnExportWaitForABatch() async throws {
    let exporter = AddingExporter()
    var options = TelemetryOptions()
    options.batch.batchSize = 10
    options.batch.delay = .seconds(3600)
    options.metricInterval = .seconds(3600)
    let telemetry = try Telemetry(
      options,
      clock: TelemetryClock(),
      ids: IDGenerator(),
      exporters: [exporter]
    )
    exporter.telemetry.withLock { $0 = telemetry }
    for _ in 0..<10 { telemetry.tracer.startSpan("span").end() }
    while exporter.allSizes.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    try await Task.sleep(for: .milliseconds(20))
    for _ in 0..<9 { telemetry.tracer.startSpan("span").end() }
    while exporter.allSizes.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(exporter.allSizes == [10, 10])
    exporter.telemetry.withLock { $0 = nil }
    await telemetry.shutDown()
  }

  /// Never answers before it is told to.
  private final class StuckExporter: BatchExporter {
    let destination = "the collector"
    private let gate = AsyncStream<Void>.makeStream()
    let counts = Locked<[Int]>([])

    func export(_ batch: ExportBatch, within limit: Duration?) async -> ExportResult {
      guard batch.signal == .traces else { return .whole }
      counts.withLock { $0.append(batch.count) }
      for await _ in gate.stream { break }
      return .whole
    }

    func open() { gate.continuation.finish() }
    func shutDown() async {}
  }

  @Test func smallItemsDoNotMakeRoomForLargeOnes() async throws {
    let exporter = StuckExporter()
    var options = TelemetryOptions()
    options.batch.batchSize = 100
    options.batch.queueSize = 1000
    options.batch.queueBytes = 1 << 20
    options.batch.delay = .seconds(3600)
    options.metricInterval = .seconds(3600)
    let telemetry = try Telemetry(
      options,
      clock: TelemetryClock(),
      ids: IDGenerator(),
      exporters: [exporter]
    )
    func addLarge() {
      let span = telemetry.tracer.startSpan("large")
      for number in 0..<100 { span.set("key\(number)", .string(String(repeating: "x", count: 4000))) }
      span.end()
    }
    for _ in 0..<99 { telemetry.tracer.startSpan("small").end() }
    for _ in 0..<2 { addLarge() }
    while exporter.counts.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
    // A batch with one of the large spans is on its way, and the other waits: there is room for no third.
    for _ in 0..<5 { addLarge() }
    #expect(telemetry.drops[.traces]?.queueFull == 5)
    exporter.open()
    await telemetry.shutDown()
  }
}
