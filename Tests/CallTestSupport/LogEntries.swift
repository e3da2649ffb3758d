import SwitchboardCall

/// Keeps what is logged, but not that a loop was blocked: on a busy machine any is.
package final class LogEntries: LogHandler {
  package struct Entry: Sendable {
    package let level: LogLevel
    package let message: String
    package let metadata: [String: String]
    /// How many events it stands for.
    package var times: Int { metadata["times"].flatMap { Int($0) } ?? 1 }
  }

  private let entries = Locked<[Entry]>([])

  package init() {}

  package func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
    // What depends on the time that the machine has, and on registries of tests that run at the same time.
    guard !message.contains("an event loop"), !message.contains("interceptors were registered") else {
      return
    }
    entries.withLock { $0.append(Entry(level: level, message: message, metadata: metadata)) }
  }

  package var all: [Entry] { entries.withLock { $0 } }

  /// Those of at least this level.
  package func all(from level: LogLevel) -> [Entry] { all.filter { $0.level >= level } }
}
