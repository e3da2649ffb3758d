import SwitchboardCall

/// Exports all metrics to one exporter at regular intervals. A failed export loses nothing, because the numbers are
/// totals.
final class MetricReader: SignalExport {
  let lane: ExportLane
  private let metrics: TelemetryMetrics
  private let interval: Duration
  private let time: ExportTime
  private let worker = Locked<Task<Void, Never>?>(nil)

  init(_ metrics: TelemetryMetrics, every interval: Duration, _ time: ExportTime, _ lane: ExportLane) {
    self.metrics = metrics
    self.interval = interval
    self.time = time
    self.lane = lane
    worker.withLock { $0 = Task(executorPreference: time.loop) { await self.run() } }
  }

  var drops: TelemetryDrops {
    var drops = TelemetryDrops()
    drops.notExported = lane.lostCount
    return drops
  }

  private func run() async {
    while await time.sleep(interval) { await export() }
  }

  private func export() async {
    metrics.clock.adjust()
    let snapshot = metrics.snapshot()
    guard !snapshot.families.isEmpty else { return }
    await lane.export(.metrics(snapshot))
  }

  func flush(until end: ContinuousClock.Instant) async {
    let export = Task { await self.export() }
    let alarm = Task { if await time.sleep(time.now.duration(to: end)) { export.cancel() } }
    await export.value
    alarm.cancel()
  }

  func stop() { worker.withLock { $0 }?.cancel() }

  func waitForEnd() async { await worker.withLock { $0 }?.value }
}
