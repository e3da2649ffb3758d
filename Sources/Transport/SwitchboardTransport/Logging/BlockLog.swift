import SwitchboardCall

/// Log entries about loops that are blocked: for each method once a minute.
final class BlockLog: Sendable {
  private let logger: Logger
  private let entries = Locked<[[UInt8]: Entry]>([:])

  private static let pause: UInt64 = 60_000_000_000

  /// The latest entry of a method in the log.
  private struct Entry {
    let time: UInt64
    /// How often it has blocked a loop since.
    var unreported = 0
  }

  init(_ logger: Logger) { self.logger = logger }

  /// Logs that `who` blocks a loop, in a call of the method with this path if it is known. Returns whether the log has it.
  func blocked(by who: String, _ path: String?, for time: UInt64, at now: UInt64, hint: String) -> Bool {
    guard let unreported = count(path, at: now) else { return false }
    var details = ["for": Self.text(time), "hint": hint]
    if let path { details["method"] = path }
    if unreported > 0 { details["unreported"] = "\(unreported) times since the last entry" }
    logger.log(.warning, "\(who) blocks an event loop, on which all other calls wait", details)
    return true
  }

  /// Logs the end of what is in the log.
  func released(_ path: String?, after time: UInt64) {
    var details = ["after": Self.text(time)]
    if let path { details["method"] = path }
    logger.log(.warning, "an event loop that was blocked goes on", details)
  }

  /// Returns how often the method has blocked a loop since its last entry, if it is time for another one.
  private func count(_ path: String?, at now: UInt64) -> Int? {
    entries.withLock { entries in
      // No path is empty.
      let key = Array((path ?? "").utf8)
      if let entry = entries[key], now - entry.time < Self.pause {
        entries[key]?.unreported += 1
        return nil
      }
      defer { entries[key] = Entry(time: now) }
      return entries[key]?.unreported ?? 0
    }
  }

  private static func text(_ time: UInt64) -> String { "\(time / 1_000_000) ms" }
}
