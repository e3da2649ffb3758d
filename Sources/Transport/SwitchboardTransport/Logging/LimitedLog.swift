import SwitchboardCall
import SwitchboardNetwork

/// Log entries of one kind that peers can cause at will, and with which they could fill a disk: one line per second.
///
/// The first is written at once. Of the others of a second, the last is written at its end, with the number of those that
/// it stands for. So whoever tries something sees at once what comes of it, and a kind takes some 15 MB a day at most. What
/// gets no line is an entry of the level `info`.
final class LimitedLog: Sendable {
  /// What an entry says besides its message.
  typealias Details = [String: String]

  private static let interval = Duration.seconds(1)

  private let logger: Logger
  private let level: LogLevel
  private let message: String
  private let state = Locked(State())

  init(_ logger: Logger, _ level: LogLevel, _ message: String) {
    self.logger = logger
    self.level = level
    self.message = message
  }

  private struct State {
    /// When the next line may be written.
    var nextLine: UInt64 = 0
    /// The number of entries since the last line, and what the last of them says.
    var count = 0
    var last = Details()

    mutating func takeLine(at now: UInt64) -> Details? {
      guard now >= nextLine else { return nil }
      return takeRest(at: now)
    }

    mutating func takeRest(at now: UInt64) -> Details? {
      guard count > 0 else { return nil }
      if count > 1 { last["times"] = "\(count)" }
      defer { self = State(nextLine: now.addingSaturated(LimitedLog.interval.nanoseconds)) }
      return last
    }
  }

  /// Logs an entry, from any thread. The clock is that of `loop`, which writes the line at the end of the second.
  func log(_ details: @autoclosure () -> Details, on loop: Loop) {
    guard logger.logs(level) else { return }
    let (details, now) = (details(), loop.now)
    let (line, wait): (Details?, UInt64?) = state.withLock { state in
      state.count += 1
      state.last = details
      if let line = state.takeLine(at: now) { return (line, nil) }
      return (nil, state.count == 1 ? state.nextLine - now : nil)
    }
    if let line { return logger.log(level, message, line) }
    logger.log(.info, message, details)
    if let wait { loop.execute { self.writeRest(after: wait, on: loop) } }
  }

  /// Writes what the end of a second would, at the end of all.
  func writeRest() {
    guard let line = state.withLock({ $0.takeRest(at: $0.nextLine) }) else { return }
    logger.log(level, message, line)
  }

  private func writeRest(after wait: UInt64, on loop: Loop) {
    let timer = LoopTimer {
      guard let line = self.state.withLock({ $0.takeLine(at: loop.now) }) else { return }
      self.logger.log(self.level, self.message, line)
    }
    // If the loop ends before, the next entry counts these.
    loop.schedule(timer, after: .nanoseconds(Int64(clamping: wait)))
  }
}
