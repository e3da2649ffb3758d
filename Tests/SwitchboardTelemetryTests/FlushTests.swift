import CallTestSupport
import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// When flushes end, in time that stands still: what waited for its limit would wait forever.
@Suite(.timeLimit(.minutes(5))) struct FlushTests {
  private let time = ManualTime()

  private func record(_ telemetry: Telemetry, _ count: Int) {
    for number in 0..<count { telemetry.tracer.startSpan("span \(number)").end() }
  }

  @Test func afterTheEndNothingIsWaitedFor() async throws {
    let exporter = CapturingExporter(isHeld: true)
    exporter.answer([.retry(after: nil, "cancelled"), .retry(after: nil, "cancelled")])
    let telemetry = try Telemetry.capturing(exporter, time: time) { $0.batch.batchSize = 1 }
    record(telemetry, 3)
    while !Task.isCancelled, exporter.attempts == 0 { await Task.yield() }
    await telemetry.shutDown(within: .zero)
    #expect(telemetry.drops[.traces] == TelemetryDrops(notExported: 1, shutDown: 2))
    telemetry.metrics.counter("late").add()
    let attempts = exporter.attempts
    await telemetry.flush(within: .seconds(100))
    await telemetry.shutDown(within: .seconds(100))
    #expect(exporter.attempts == attempts)
  }

  @Test func theShortestOfSeveralEndsTheOthers() async throws {
    let exporter = CapturingExporter(isHeld: true)
    let telemetry = try Telemetry.capturing(exporter, time: time) { $0.batch.batchSize = 1 }
    record(telemetry, 3)
    let long = Task { await telemetry.shutDown(within: .seconds(100)) }
    while try #require(await time.nextWait()) != .seconds(100) {}
    await telemetry.shutDown(within: .zero)
    await long.value
  }

  @Test func aFlushEndsAtItsLimitAndWhenItIsCancelled() async throws {
    let exporter = CapturingExporter(isHeld: true)
    let telemetry = try Telemetry.capturing(exporter, time: time)
    record(telemetry, 1)
    // Without a metric, the flush of metrics could end before it waits.
    telemetry.metrics.counter("orders").add()
    let first = Task { await telemetry.flush(within: .seconds(20)) }
    for _ in 0..<2 { while try #require(await time.nextWait()) != .seconds(20) {} }
    time.advance(by: .seconds(20))
    await first.value
    let second = Task { await telemetry.flush(within: .seconds(30)) }
    for _ in 0..<2 { while try #require(await time.nextWait()) != .seconds(30) {} }
    second.cancel()
    await second.value
    exporter.release()
    await telemetry.flush(within: .seconds(40))
    #expect(exporter.spans.count == 1)
    await telemetry.shutDown()
  }

  /// Holds its first export until it is told otherwise, or cancelled.
  private final class SlowExporter: BatchExporter {
    let destination = "the collector"
    private let gate = AsyncStream<Void>.makeStream()
    let begun = Locked(0)

    func export(_ batch: ExportBatch, within limit: Duration?) async -> ExportResult {
      let count = begun.withLock { begun in
        begun += 1
        return begun
      }
      if count == 1 { for await _ in gate.stream {} }
      return Task.isCancelled ? .retry(after: nil, "cancelled") : .whole
    }

    func release() { gate.continuation.finish() }
    func shutDown() async {}
  }

  @Test func metricsOnTheirWayAtTheEndAreNotLost() async throws {
    let (exporter, entries) = (SlowExporter(), LogEntries())
    var options = TelemetryOptions(serviceName: "test")
    options.countsCalls = false
    options.logger = Logger(entries)
    let telemetry = try Telemetry(
      options,
      clock: TelemetryClock(),
      ids: IDGenerator(),
      time: time,
      exporters: [exporter]
    )
    telemetry.metrics.counter("orders").add()
    while try #require(await time.nextWait()) != options.metricInterval {}
    time.advance(by: options.metricInterval)
    while !Task.isCancelled, exporter.begun.withLock({ $0 == 0 }) { await Task.yield() }
    let end = Task { await telemetry.shutDown(within: .seconds(100)) }
    while try #require(await time.nextWait()) != .seconds(100) {}
    // The last export comes after the one that is on its way.
    for _ in 0..<100 { await Task.yield() }
    exporter.release()
    await end.value
    #expect(exporter.begun.withLock { $0 } == 2)
    #expect(entries.lines.withLock { $0 } == [])
    #expect(telemetry.drops[.metrics] == TelemetryDrops())
  }

  @Test func aQueueThatIsFullOfBytesIsExportedBeforeItsDelay() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter, time: time) { $0.batch.queueBytes = 64 * 1024 }
    // Another one would not fit.
    let span = telemetry.tracer.startSpan("large")
    for number in 0..<8 { span.set("key\(number)", .string(String(repeating: "x", count: 4000))) }
    span.end()
    while !Task.isCancelled, exporter.spans.isEmpty { await Task.yield() }
    await telemetry.shutDown()
  }
}
