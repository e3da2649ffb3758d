public import SwitchboardCall
import SwitchboardHTTP2

/// Writes the log of a process, each entry with the span that it was written in, and exports it.
///
/// ```swift
/// serverOptions.logger = Logger(TelemetryLog(telemetry, format: .jsonLines), minimumLevel: .info)
/// ```
/// Logging never blocks: what cannot be written or exported in time is dropped and counted.
public final class TelemetryLog: LogHandler {
  private let telemetry: Telemetry
  private let format: LogFormat
  private let writer: LineWriter?

  /// Writes lines to a descriptor, by default standard error, and has them exported. `descriptor` is `nil` to export only.
  public init(_ telemetry: Telemetry, format: LogFormat = .jsonLines, descriptor: Int32? = 2) {
    self.telemetry = telemetry
    self.format = format
    writer = descriptor.map { LineWriter($0, capacity: 1 << 20) }
  }

  deinit { writer?.close() }

  /// The number of lines that could not be written.
  public var droppedCount: Int { writer?.droppedCount ?? 0 }

  public func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
    let record = telemetry.logRecord(level, message, metadata)
    writer?.write(format.line(record))
    telemetry.record(record)
  }

  /// Returns when all lines are written or dropped, or `limit` has passed. Call it before the process ends.
  public func flush(within limit: Duration = .seconds(1)) async {
    await writer?.flush(within: limit)
  }
}
