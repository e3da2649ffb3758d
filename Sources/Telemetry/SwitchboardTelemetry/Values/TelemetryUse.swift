import SwitchboardCall

/// Who uses the telemetry, so that the log can say, once, what was set up and does nothing.
final class TelemetryUse: Sendable {
  private struct State: Sendable {
    /// Whether a server or a channel has an observer.
    var isObserved = false
    var hasLog = false
    /// Whether nothing needs to be said of calls, or the log says it.
    var callsAreSettled: Bool
    var logsAreSettled: Bool
  }

  private let state: Locked<State>
  private let logger: Logger

  /// For telemetry that exports something about calls, and that has an exporter for logs.
  init(exportsCalls: Bool, exportsLogs: Bool, _ logger: Logger) {
    self.logger = logger
    state = Locked(State(callsAreSettled: !exportsCalls, logsAreSettled: !exportsLogs))
  }

  func serverWasMade() {
    channelWasMade()
    // Its logger was chosen by now.
    remarkOnLogs()
  }

  func channelWasMade() { state.withLock { $0.isObserved = true } }

  func logWasMade() { state.withLock { $0.hasLog = true } }

  /// Called when nothing more will come.
  func end() {
    remarkOnCalls()
    remarkOnLogs()
  }

  /// Called when servers and channels should have been made.
  func remarkOnCalls() {
    remark(\.callsAreSettled, unless: \.isObserved, Self.noCalls)
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

  private static let noLogs =
    "logs have an exporter of telemetry, and no TelemetryLog sends it any: make one, and use it as the logger of servers and "
    + "channels, or leave logs out of the exporter's signals"
}
