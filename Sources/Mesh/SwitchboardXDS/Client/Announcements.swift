import SwitchboardCall

/// What a client says of itself, to a log and to metrics, until it is said.
///
/// Handlers may take long, and may begin or end watches in turn. So what is to be said is gathered under the client's lock, and said
/// without it: in order, by one thread at a time. Nobody waits for that thread; what comes meanwhile is said after it.
struct Announcements: Sendable {
  struct Line: Sendable {
    let logger: Logger
    let level: LogLevel
    let text: String
  }

  /// What is said at once.
  struct Batch: Sendable {
    var lines: [Line] = []
    /// By control plane.
    var metrics: [(meter: DiscoveryMeter, news: DiscoveryTally.News)] = []
    /// What there is now.
    var counts: ResourceCounts?

    var isEmpty: Bool { lines.isEmpty && metrics.isEmpty && counts == nil }
  }

  /// How many lines wait for a handler that blocks. Metrics are sums, and need no room.
  static let lineLimit = 256

  private var lines: [Line] = []
  private var lost = 0
  /// Whether a thread is saying something.
  private var isBusy = false

  mutating func add(_ line: Line) {
    guard lines.count < Self.lineLimit else {
      lost += 1
      return
    }
    lines.append(line)
  }

  /// What to say next; `nil` if that is nothing, or if a thread that is busy will. `fill` adds the metrics. Otherwise, `done` follows.
  mutating func next(_ fill: (inout Batch) -> Void) -> Batch? {
    guard !isBusy else { return nil }
    var batch = Batch(lines: lines)
    if lost > 0, let last = lines.last {
      let text = "and \(lost) more lines, for which the handler of the log took too long"
      batch.lines.append(Line(logger: last.logger, level: .warning, text: text))
    }
    (lines, lost) = ([], 0)
    fill(&batch)
    guard !batch.isEmpty else { return nil }
    isBusy = true
    return batch
  }

  mutating func done() { isBusy = false }
}
