import SwitchboardCall

/// Sends one signal to one exporter. Divides batches that are too large, repeats exports whose failure may pass, and
/// counts what is lost.
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
    /// Whether the collector has refused a single item as too large since it last took something. Then something else
    /// may be the matter, and dividing batches would only multiply requests.
    var refusesSingleItems = false
    /// The next pause, and the end of this one, before which nothing is sent: neither the same batch nor the next.
    var backoff = firstBackoff
    var pauseEnd: ContinuousClock.Instant?
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

  /// Returns once the batch is taken or lost. What is too large for a request, or for the collector, is divided.
  func export(_ batch: ExportBatch) async {
    guard batch.count <= 1 || batch.cost <= ExportBatch.costLimit else {
      return await exportHalves(of: batch)
    }
    switch await send(batch) {
    case .taken(let rejected, let message):
      state.withLock { $0.refusesSingleItems = false }
      guard rejected > 0 else { return recover(message) }
      // A collector may report any number.
      let count = min(rejected, batch.count)
      lose(count, message, "\(exporter.destination) rejected \(count) of \(batch.count) \(batch.items)")
    case .tooLarge(let reason):
      let isDivided = state.withLock { state in
        if batch.count <= 1 { state.refusesSingleItems = true }
        return !state.refusesSingleItems
      }
      if isDivided { await exportHalves(of: batch) } else { lose(batch.count, reason) }
    case .refused(let reason), .retry(_, let reason):
      lose(batch.count, reason)
    }
  }

  private func exportHalves(of batch: ExportBatch) async {
    for half in batch.halves { await export(half) }
  }

  /// Sends a batch until the collector has decided or the time is over. The result is `retry` in the second case.
  private func send(_ batch: ExportBatch) async -> ExportResult {
    // An export is cancelled only because its time is over, which is not the collector's reason.
    var reason = "there was no answer when the time was over"
    guard await waitForPauseEnd() else { return .retry(after: nil, reason) }
    let isTriedOnce = limit.map { $0 <= .zero } ?? false
    let end = isTriedOnce ? nil : limit.map { time.now + $0 }
    while true {
      let result = await exporter.export(batch, within: end.map { time.now.duration(to: $0) })
      guard case .retry(let wanted, let latest) = result else {
        state.withLock { ($0.backoff, $0.pauseEnd) = (Self.firstBackoff, nil) }
        return result
      }
      if !Task.isCancelled { reason = latest }
      let pauseEnd = pause(wanted)
      guard !isTriedOnce, end.map({ pauseEnd < $0 }) ?? true, !Task.isCancelled else {
        return .retry(after: nil, reason)
      }
      delay(reason)
      guard await waitForPauseEnd() else { return .retry(after: nil, reason) }
    }
  }

  /// Begins a pause and returns its end. It is random, so that processes do not all try again at the same time. A
  /// collector can lengthen it, but not shorten it.
  private func pause(_ wanted: Duration?) -> ContinuousClock.Instant {
    let chance = 0.8 + 0.4 * time.random()
    return state.withLock { state in
      let end = time.now + max(wanted ?? .zero, state.backoff * chance)
      state.backoff = min(state.backoff * 2, Self.longestBackoff)
      state.pauseEnd = end
      return end
    }
  }

  /// Returns `false` if the task was cancelled.
  private func waitForPauseEnd() async -> Bool {
    guard let end = state.withLock({ $0.pauseEnd }), end > time.now else { return true }
    return await time.sleep(time.now.duration(to: end))
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
