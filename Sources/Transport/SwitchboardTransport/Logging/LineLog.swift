import SwitchboardCall
import SwitchboardText

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Writes log entries as lines to standard error or another descriptor, from its own thread.
///
/// Logging never blocks. Entries are dropped and counted if there is no room for them, because the reader has stopped
/// reading, or if they cannot be written, because the disk is full or the reader is gone; the log reports their number
/// as soon as it can. Text from peers and handlers cannot break lines: control characters are escaped.
///
/// ```swift
/// let log = LineLog(label: "shop")
/// var options = ServerOptions()
/// options.logger = Logger(log, minimumLevel: .info)
/// ```
public final class LineLog: LogHandler {
  package let writer: LineWriter
  private let label: String

  /// With less room, the log would lose the lines that it exists for.
  private static let leastCapacity = 4096

  /// Writes to a duplicate of the descriptor. Each line starts with the label; up to `capacity` bytes wait to be
  /// written; less than 4096 means 4096.
  public init(_ descriptor: Int32 = STDERR_FILENO, label: String? = nil, capacity: Int = 1 << 20) {
    writer = LineWriter(descriptor, capacity: max(capacity, Self.leastCapacity))
    self.label = label.map { "\($0): " } ?? ""
  }

  deinit { writer.close() }

  /// The number of dropped entries.
  package var droppedCount: Int { writer.droppedCount }

  public func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
    let details = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    writer.write(label + "\(level): \(message)\(details)".withControlsEscaped)
  }

  /// Returns when all entries logged before are written or dropped, or when `limit` has passed. Call it before the
  /// process ends.
  public func flush(within limit: Duration = .seconds(1)) async {
    await writer.flush(within: limit)
  }
}

extension Logger {
  /// Writes warnings and errors as lines to standard error: the default of servers and channels.
  public static let standardError = Logger(LineLog(), minimumLevel: .warning)
}
