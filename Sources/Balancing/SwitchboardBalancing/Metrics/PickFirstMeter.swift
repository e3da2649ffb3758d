/// The metrics of `pick_first` (gRFC A78): its connection, as the policy sees it. An attempt tries all addresses.
struct PickFirstMeter {
  private let succeeded: (any MetricSeries)?
  private let failed: (any MetricSeries)?
  private let disconnections: (any MetricSeries)?
  private var state = ConnectivityState.idle

  /// `nil` if all of the metrics are off.
  init?(_ scope: MetricScope?) {
    guard let scope else { return nil }
    succeeded = scope.series(of: .succeeded)
    failed = scope.series(of: .failed)
    disconnections = scope.series(of: .disconnections)
    guard succeeded != nil || failed != nil || disconnections != nil else { return nil }
  }

  /// The subchannel has another state.
  mutating func note(_ new: ConnectivityState) {
    let old = state
    state = new
    if old == .ready, new != .ready { disconnections?.record(1) }
    if new == .ready, old != .ready { succeeded?.record(1) }
    // A connection that ends before it was usable fails the calls too, but is not a failed attempt.
    if new == .transientFailure, old != .ready { failed?.record(1) }
  }

  /// The policy has shut its subchannel down, which is no disconnection.
  mutating func subchannelEnded() { state = .idle }
}

extension Instrument {
  fileprivate static let succeeded = Instrument(
    "grpc.lb.pick_first.connection_attempts_succeeded",
    .counter,
    unit: "{attempt}",
    "attempts to connect to one of the addresses that succeeded"
  )
  fileprivate static let failed = Instrument(
    "grpc.lb.pick_first.connection_attempts_failed",
    .counter,
    unit: "{attempt}",
    "times that pick_first tried all addresses without success"
  )
  fileprivate static let disconnections = Instrument(
    "grpc.lb.pick_first.disconnections",
    .counter,
    unit: "{disconnection}",
    "connections in use that ended"
  )
}
