public import SwitchboardCall
import SwitchboardTransport

/// Writes and exports the log of a process. Each entry has the span in which it was written.
///
/// ```swift
/// serverOptions.logger = Logger(TelemetryLog(telemetry, format: .jsonLines), minimumLevel: .info)
/// ```
/// Logging never blocks. Entries that cannot be written or exported in time are dropped and counted.
public final class TelemetryLog: LogHandler {
  private let telemetry: Telemetry
  private let format: LogFormat
  private let writer: LineWriter?

  /// A log that writes lines to a file descriptor, standard error by default, and exports the entries. If `descriptor`
  /// is `nil`, it only exports them.
  public init(_ telemetry: Telemetry, format: LogFormat = .jsonLines, descriptor: Int32? = 2) {
    self.telemetry = telemetry
    telemetry.parts.use.logWasMade()
    self.format = format
    writer = descriptor.map { LineWriter($0, capacity: 1 << 20) }
    if let writer { telemetry.keep(writer) }
  }

  deinit { writer?.close() }

  /// The number of lines that could not be written.
  public var droppedCount: Int { writer?.droppedCount ?? 0 }

  public func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
    let record = telemetry.logRecord(level, message, metadata)
    writer?.write(format.line(record))
    telemetry.record(record)
  }

  /// Returns once all lines are written or dropped, or after `limit`. Call it before the process ends, if anything is
  /// logged after `Telemetry.shutDown`, which does the same.
  public func flush(within limit: Duration = .seconds(1)) async {
    await writer?.flush(within: limit)
  }
}
