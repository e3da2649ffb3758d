import SwitchboardCall

/// Keeps what is logged, with the reasons.
final class LogEntries: LogHandler {
  let lines = Locked<[String]>([])

  func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
    lines.withLock { $0.append("\(level): \(message): \(metadata["reason"] ?? "")") }
  }
}
