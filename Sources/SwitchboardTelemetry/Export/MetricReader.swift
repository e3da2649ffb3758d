import SwitchboardCall

/// Exports all metrics at regular intervals. A failed export loses nothing, because the numbers are totals.
final class MetricReader: Sendable {
  private let metrics: TelemetryMetrics
  private let interval: Duration
  private let time: ExportTime
  private let lanes: [ExportLane]
  private let worker = Locked<Task<Void, Never>?>(nil)

  init(_ metrics: TelemetryMetrics, every interval: Duration, _ time: ExportTime, _ lanes: [ExportLane]) {
    self.metrics = metrics
    self.interval = max(interval, .milliseconds(10))
    self.time = time
    self.lanes = lanes
    guard !lanes.isEmpty else { return }
    worker.withLock { $0 = Task(executorPreference: time.loop) { await self.run() } }
  }

  private func run() async {
    while await time.sleep(interval) { await export() }
  }

  func export() async {
    guard !lanes.isEmpty else { return }
    metrics.clock.adjust()
    let snapshot = metrics.snapshot()
    guard !snapshot.families.isEmpty else { return }
    await withTaskGroup { group in
      for lane in lanes { group.addTask { await lane.export(.metrics(snapshot)) } }
    }
  }

  /// Cancels the current export, and returns once it has ended.
  func close() async {
    stop()
    await worker.withLock { $0 }?.value
  }

  func stop() { worker.withLock { $0 }?.cancel() }
}
