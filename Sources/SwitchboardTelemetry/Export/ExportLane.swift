import SwitchboardCall

/// Sends one signal to one exporter. Repeats exports whose failure may pass, and counts what is lost.
final class ExportLane: Sendable {
  let signal: TelemetrySignal
  private let exporter: any BatchExporter
  private let time: ExportTime
  /// The longest time that an export may take, with all attempts. `nil`: any time. Zero or less: one attempt.
  private let limit: Duration?
  private let logger: Logger
  private let state = Locked(State())

  private struct State {
    var lost = 0
    /// What was logged since the collector last took something.
    var isWaiting = false
    var isFailing = false
  }

  init(
    _ exporter: any BatchExporter,
    _ signal: TelemetrySignal,
    _ time: ExportTime,
    limit: Duration?,
    _ logger: Logger
  ) {
    self.exporter = exporter
    self.signal = signal
    self.time = time
    self.limit = limit
    self.logger = logger
  }

  /// The number of items that were lost.
  var lostCount: Int { state.withLock { $0.lost } }

  private static let firstBackoff = Duration.seconds(1)
  private static let longestBackoff = Duration.seconds(5)

  /// Returns once the batch is taken or lost.
  func export(_ batch: ExportBatch) async {
    let isTriedOnce = limit.map { $0 <= .zero } ?? false
    let end = isTriedOnce ? nil : limit.map { time.now + $0 }
    var backoff = Self.firstBackoff
    var lastReason: String?
    while true {
      switch await exporter.export(batch, within: end.map { time.now.duration(to: $0) }) {
      case .taken(let rejected, let message):
        guard rejected > 0 else { return recover(message) }
        // A collector may report any number.
        let count = min(rejected, batch.count)
        let what = "\(count) of \(batch.count) \(batch.items)"
        return lose(count, message, "\(exporter.destination) rejected \(what)")
      case .refused(let reason):
        return lose(batch.count, reason)
      case .retry(let wanted, var reason):
        // An export is cancelled only because its time is over, which is not the collector's reason.
        if Task.isCancelled { reason = lastReason ?? "there was no answer when the time was over" }
        lastReason = reason
        // The pause is random, so that processes do not all try again at the same time. A collector can lengthen it,
        // but not shorten it.
        let wait = max(wanted ?? .zero, backoff * (0.8 + 0.4 * time.random()))
        backoff = min(backoff * 2, Self.longestBackoff)
        guard !isTriedOnce, end.map({ time.now + wait < $0 }) ?? true, !Task.isCancelled else {
          return lose(batch.count, reason)
        }
        delay(reason)
        guard await time.sleep(wait) else { return lose(batch.count, reason) }
      }
    }
  }

  func shutDown() async { await exporter.shutDown() }

  /// Logs that items are dropped because those before them are not exported yet.
  func reportOverflow() {
    log(
      "\(signal.rawValue) are lost: \(exporter.destination) does not accept them fast enough",
      "the queue is full"
    )
  }

  /// Logs at once why nothing arrives, instead of waiting until something is lost.
  private func delay(_ reason: String) {
    let isNews = state.withLock { state in
      defer { state.isWaiting = true }
      return !state.isWaiting && !state.isFailing
    }
    guard isNews else { return }
    log("\(signal.rawValue) are delayed: cannot export to \(exporter.destination)", reason)
  }

  private func lose(_ count: Int, _ reason: String, _ message: String? = nil) {
    let isNews = state.withLock { state in
      state.lost += count
      defer { state.isFailing = true }
      return !state.isFailing
    }
    guard isNews else { return }
    log(message ?? "\(signal.rawValue) are lost: cannot export to \(exporter.destination)", reason)
  }

  private func log(_ message: String, _ reason: String) {
    logger.log(.warning, message, reason.isEmpty ? [:] : ["reason": reason.limited(to: 512)])
  }

  private func recover(_ message: String) {
    let hasRecovered = state.withLock { state in
      defer { (state.isWaiting, state.isFailing) = (false, false) }
      return state.isWaiting || state.isFailing
    }
    // A warning, so that whoever sees that a failure begins sees that it ends.
    if hasRecovered {
      logger.log(.warning, "\(signal.rawValue) are exported to \(exporter.destination) again")
    }
    if !message.isEmpty {
      logger.log(.debug, "\(exporter.destination) says", ["message": message.limited(to: 512)])
    }
  }
}

/// The clock and the timers of exports, on their own loop.
struct ExportTime: Sendable {
  let loop: any EventLoop
  var time: any CallTime = SystemTime()
  var random: @Sendable () -> Double = { Double.random(in: 0...1) }

  var now: ContinuousClock.Instant { time.now }

  /// Returns `false` if the task was cancelled.
  func sleep(_ duration: Duration) async -> Bool {
    (try? await time.sleep(until: time.now.advanced(by: max(duration, .zero)), on: loop)) != nil
      && !Task.isCancelled
  }
}
