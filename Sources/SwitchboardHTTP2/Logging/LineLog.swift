public import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Writes log entries as lines, to standard error or wherever else it is told to, from a thread of its own.
///
/// Who logs never waits, whatever becomes of those who read. Entries for which there is no room, since a reader has stopped
/// reading, and those that cannot be written, since a disk is full or a reader gone, are dropped and counted; the log
/// says how many as soon as it can. What peers and handlers have put into an entry stays on its line: control characters are
/// escaped.
public final class LineLog: LogHandler {
  private let writer: LineWriter
  private let label: String

  /// Writes to a duplicate of the descriptor, each line with the label at its beginning, and holds up to `capacity` bytes
  /// that wait to be written.
  public init(_ descriptor: Int32 = STDERR_FILENO, label: String? = nil, capacity: Int = 1 << 20) {
    writer = LineWriter(descriptor, capacity: capacity)
    self.label = label.map { "\($0): " } ?? ""
  }

  deinit { writer.close() }

  /// How many entries have been dropped.
  public var droppedCount: Int { writer.droppedCount }

  public func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
    let details = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    writer.write(label + Self.escaped("\(level): \(message)\(details)"))
  }

  /// Returns once everything is written that was logged before, or dropped; or when that takes too long. To be called before
  /// the process ends.
  public func flush(within limit: Duration = .seconds(1)) async {
    let end = ContinuousClock.now + limit
    while !writer.isIdle, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(1)) }
  }

  private static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.map { isControl($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
  }

  /// Those that end a line, speak to a terminal, or are not seen where they turn what is.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
