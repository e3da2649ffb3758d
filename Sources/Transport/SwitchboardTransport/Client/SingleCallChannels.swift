import SwitchboardCall
import SwitchboardNetwork
import SwitchboardText

/// Notices programs that make a channel for each call, by how many channels to one target end soon and have made one call: each
/// looks the name up, connects and shakes hands anew.
///
/// Channels count only if they are connected in the end: without a server, the program has other worries.
final class SingleCallChannels: Sendable {
  static let ofProcess = SingleCallChannels()

  /// So many, within such a time, are a habit.
  static let limit = 20
  static let period = Duration.seconds(10)
  /// More targets at once are not followed. A program that calls so many has its reasons.
  static let mostTargets = 64

  private struct Period {
    let start: UInt64
    var count = 0
    /// Whether the log has it, which is enough.
    var wasReported = false

    func isOver(at now: UInt64) -> Bool {
      !wasReported && now >= start.addingSaturated(SingleCallChannels.period.nanoseconds)
    }
  }

  private let periods = Locked<[ExactText: Period]>([:])

  /// Counts a channel that has made one call, with the times of its start and its end. Returns whether the log should have it: once
  /// for each target.
  func add(_ target: String, from start: UInt64, to end: UInt64) -> Bool {
    periods.withLock { periods in
      if let known = periods[target], known.isOver(at: end) { periods[target] = nil }
      if periods[target] == nil, periods.count >= Self.mostTargets {
        periods = periods.filter { !$1.isOver(at: end) }
      }
      guard periods[target] != nil || periods.count < Self.mostTargets else { return false }
      var period = periods[target] ?? Period(start: start)
      // One that has been open for longer is not made for its call.
      guard !period.wasReported, !Period(start: start).isOver(at: end) else { return false }
      period.count += 1
      period.wasReported = period.count >= Self.limit
      periods[target] = period
      return period.wasReported
    }
  }
}
