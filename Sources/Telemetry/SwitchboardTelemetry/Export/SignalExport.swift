/// Exports one signal to one exporter, at its own pace: an exporter that is down delays no other.
protocol SignalExport: Sendable {
  var lane: ExportLane { get }
  /// What was lost on the way to the exporter.
  var drops: TelemetryDrops { get }
  /// Returns once everything that was recorded before is exported or lost, or at `end`.
  func flush(until end: ContinuousClock.Instant) async
  /// Drops what waits and what is recorded later, and cancels the current export.
  func stop()
  /// Returns once the export that `stop` cancelled has ended.
  func waitForEnd() async
}
