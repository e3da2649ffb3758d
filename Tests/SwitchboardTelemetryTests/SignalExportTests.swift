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
      while working.spans.count < 4 * round || working.logs.count < 4 * round { await Task.yield() }
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
      while working.snapshots.count < round || stuck.attempts == 0 { await Task.yield() }
    }
    #expect(stuck.attempts == 1)
    stuck.release()
    await telemetry.shutDown()
  }
}
