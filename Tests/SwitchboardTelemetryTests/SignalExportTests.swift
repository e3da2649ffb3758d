import CallTestSupport
import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// Exports of several exporters, and what each of them loses.
@Suite(.timeLimit(.minutes(5))) struct SignalExportTests {
  private func record(_ telemetry: Telemetry, _ count: Int) {
    for number in 0..<count { telemetry.tracer.startSpan("span \(number)").end() }
  }

  @Test func anExporterThatIsStuckDelaysNoOthersSpansAndLogs() async throws {
    let (stuck, working) = (CapturingExporter(isHeld: true), CapturingExporter())
    let telemetry = try Telemetry.capturing(stuck, working) {
      $0.batch.queueSize = 8
      $0.batch.batchSize = 4
    }
    let log = TelemetryLog(telemetry, descriptor: nil)
    for round in 1...10 {
      record(telemetry, 4)
      for _ in 0..<4 { log.log(.info, "entry", [:]) }
      while !Task.isCancelled, working.spans.count < 4 * round || working.logs.count < 4 * round {
        await Task.yield()
      }
    }
    #expect(telemetry.drops[.traces] == TelemetryDrops(queueFull: 32))
    #expect(telemetry.drops[.logs] == TelemetryDrops(queueFull: 32))
    stuck.release()
    await telemetry.shutDown()
    #expect((stuck.spans.count, stuck.logs.count) == (8, 8))
  }

  @Test func anExporterThatIsStuckDelaysNoOthersMetrics() async throws {
    let (stuck, working) = (CapturingExporter(isHeld: true), CapturingExporter())
    let time = ManualTime()
    let interval = Duration.seconds(60)
    let telemetry = try Telemetry.capturing(stuck, working, time: time) { $0.metricInterval = interval }
    telemetry.metrics.counter("orders").add(1)
    for round in 1...5 {
      // In the first round, both wait; later only the one that works.
      for _ in 0..<(round == 1 ? 2 : 1) { while try #require(await time.nextWait()) != interval {} }
      time.advance(by: interval)
      while !Task.isCancelled, working.snapshots.count < round || stuck.attempts == 0 { await Task.yield() }
    }
    #expect(stuck.attempts == 1)
    stuck.release()
    await telemetry.shutDown()
  }

  @Test func whatComesTooLateIsNotCountedAsAFullQueue() async throws {
    let exporter = CapturingExporter(isHeld: true)
    let telemetry = try Telemetry.capturing(exporter) { $0.batch.batchSize = 1 }
    exporter.answer([.retry(after: nil, "cancelled")])
    record(telemetry, 3)
    while !Task.isCancelled, exporter.attempts == 0 { await Task.yield() }
    await telemetry.shutDown(within: .zero)
    #expect(telemetry.drops[.traces] == TelemetryDrops(notExported: 1, shutDown: 2))
    record(telemetry, 1)
    TelemetryLog(telemetry, descriptor: nil).log(.info, "late", [:])
    #expect(telemetry.drops[.traces] == TelemetryDrops(notExported: 1, shutDown: 3))
    #expect(
      telemetry.lines("switchboard_telemetry_dropped_total") == [
        #"switchboard_telemetry_dropped_total{reason="shut_down",signal="logs"} 1"#,
        #"switchboard_telemetry_dropped_total{reason="not_exported",signal="traces"} 1"#,
        #"switchboard_telemetry_dropped_total{reason="shut_down",signal="traces"} 3"#,
      ]
    )
  }

  @Test func aFullQueueIsLoggedOnceUntilItHasRoomAgain() async throws {
    let entries = LogEntries()
    let telemetry = try Telemetry.capturing(CapturingExporter()) {
      $0.logger = Logger(entries)
      $0.batch.queueBytes = 4096
    }
    // Each is larger than the queue.
    func recordLarge() {
      let span = telemetry.tracer.startSpan("large")
      for number in 0..<2 { span.set("key\(number)", .string(String(repeating: "x", count: 4000))) }
      span.end()
    }
    let line = "warning: traces are lost: the collector does not accept them fast enough: the queue is full"
    for round in 1...2 {
      for _ in 0..<3 { recordLarge() }
      #expect(entries.lines.withLock { $0 } == [String](repeating: line, count: round))
      record(telemetry, 1)
      await telemetry.flush()
    }
    #expect(telemetry.drops[.traces]?.queueFull == 6)
    await telemetry.shutDown()
  }

  @Test func dropsAreDescribedInWords() {
    #expect("\(TelemetryDrops())" == "nothing lost")
    #expect("\(TelemetryDrops(notExported: 3, unended: 1))" == "3 not exported, 1 never ended")
    #expect(
      "\(TelemetryDrops(queueFull: 2, shutDown: 5))"
        == "2 dropped because a queue was full, 5 too late to be exported"
    )
  }
}
