import SwitchboardCall

/// Exports all metrics to one exporter at regular intervals, and when they are flushed, one export after the other. A
/// failed export loses nothing, because the numbers are totals.
final class MetricReader: SignalExport {
  let lane: ExportLane
  private let metrics: TelemetryMetrics
  private let interval: Duration
  private let time: ExportTime
  private let use: TelemetryUse
  /// Counts the exports that flushes asked for.
  private let progress = Locked(ExportProgress())
  private let worker = Locked<Task<Void, Never>?>(nil)

  init(
    _ metrics: TelemetryMetrics,
    every interval: Duration,
    _ time: ExportTime,
    _ lane: ExportLane,
    _ use: TelemetryUse
  ) {
    self.use = use
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
    while await waitForTurn() {
      let (isAsked, asked) = progress.withLock { ($0.isFlushing, $0.take(upTo: .max)) }
      // The program has run for a while.
      if !isAsked { use.remarkOnCalls() }
      await export()
      for flush in progress.withLock({ $0.settle(asked) }) { flush.cancel() }
    }
  }

  /// Returns after the interval, or as soon as somebody asks for an export. Returns `false` once it is stopped.
  private func waitForTurn() async -> Bool {
    let pause = progress.withLock { progress in
      progress.isClosed || progress.isFlushing ? nil : progress.pause(interval, time)
    }
    await pause?.value
    return progress.withLock { !$0.isClosed }
  }

  private func export() async {
    metrics.clock.adjust()
    let snapshot = metrics.snapshot()
    guard !snapshot.families.isEmpty else { return }
    await lane.export(.metrics(snapshot))
  }

  func flush(until end: ContinuousClock.Instant) async {
    let flush = progress.withLock { progress in
      if !progress.isClosed { progress.add() }
      return progress.flush(until: end, time)
    }
    await flush?.end()
  }

  func stop() {
    for wait in progress.withLock({ $0.close() }) { wait.cancel() }
    worker.withLock { $0 }?.cancel()
  }

  func waitForEnd() async { await worker.withLock { $0 }?.value }
}
