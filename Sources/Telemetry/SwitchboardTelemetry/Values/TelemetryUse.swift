import SwitchboardCall

/// Who uses the telemetry, so that the log can say, once, what was set up and does nothing.
final class TelemetryUse: Sendable {
  private struct State: Sendable {
    /// Whether a server or a channel has an observer.
    var isObserved = false
    var hasLog = false
    /// Whether something about calls is exported, or on a page.
    var exportsCalls: Bool
    var showsCalls = false
    /// How often the page was read.
    var reads = 0
    /// Whether nothing needs to be said any more, because the log says it.
    var callsAreSettled = false
    var logsAreSettled: Bool
  }

  private let state: Locked<State>
  private let logger: Logger

  /// For telemetry that exports something about calls, and that has an exporter for logs.
  init(exportsCalls: Bool, exportsLogs: Bool, _ logger: Logger) {
    self.logger = logger
    state = Locked(State(exportsCalls: exportsCalls, logsAreSettled: !exportsLogs))
  }

  func serverWasMade() {
    channelWasMade()
    // Its logger was chosen by now.
    remarkOnLogs()
  }

  func channelWasMade() { state.withLock { $0.isObserved = true } }

  func logWasMade() { state.withLock { $0.hasLog = true } }

  /// Called when a page for scrapers is made that has metrics of calls.
  func pageWasMade() { state.withLock { $0.showsCalls = true } }

  /// Called for each page that is read. The first may be before servers are made, the next is after a while.
  func pageWasRead() {
    let isSecond = state.withLock { state in
      state.reads += 1
      return state.reads == 2
    }
    if isSecond { remarkOnCalls() }
  }

  /// Called when nothing more will come.
  func end() {
    remarkOnCalls()
    remarkOnLogs()
  }

  /// Called when servers and channels should have been made.
  func remarkOnCalls() {
    let (exports, shows) = state.withLock { ($0.exportsCalls, $0.showsCalls) }
    guard exports || shows else { return }
    remark(\.callsAreSettled, unless: \.isObserved, exports ? Self.noCalls : Self.noCallsOnPage)
  }

  private func remarkOnLogs() {
    remark(\.logsAreSettled, unless: \.hasLog, Self.noLogs)
  }

  private func remark(
    _ isSettled: WritableKeyPath<State, Bool>,
    unless isUsed: KeyPath<State, Bool>,
    _ text: String
  ) {
    let isNews = state.withLock { state in
      guard !state[keyPath: isSettled], !state[keyPath: isUsed] else { return false }
      state[keyPath: isSettled] = true
      return true
    }
    if isNews { logger.log(.warning, text) }
  }

  private static let noCalls =
    "telemetry has an exporter, and no server or channel has its observer(), so that it counts and traces no calls: set the "
    + "observer of ServerOptions and ChannelOptions, or set countsCalls and tracesCalls to false"

  private static let noCallsOnPage =
    "telemetry has a page of metrics or a console, and no server or channel has its observer(), so that it counts no calls: set the observer "
    + "of ServerOptions and ChannelOptions, or set countsCalls to false"

  private static let noLogs =
    "logs have an exporter of telemetry, and no TelemetryLog sends it any: make one, and use it as the logger of servers and "
    + "channels, or leave logs out of the exporter's signals"
}
