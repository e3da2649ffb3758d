import CTicks
import SwitchboardCall
import Synchronization

/// Measures durations by the processor's tick counter, which is much faster to read than the system's clock.
///
/// It measures the length of a tick between two readings that are 20 ms to a second apart. Until then, and where the
/// system does not trust the counter, it reads the system's clock. Durations deviate from the system's by a few
/// millionths.
final class TickClock: Sendable {
  static let ofProcess = TickClock(isSteady: switchboard_ticks_are_steady() != 0)

  private struct Start: Sendable {
    let ticks: UInt64
    let time: UInt64
  }

  /// The nanoseconds of a tick, in units of 2^-32. 0: unknown, or the counter is not trusted.
  private let rate = Atomic<UInt64>(0)
  /// Added to the ticks so that they continue the system's clock. Set before the rate.
  private let offset = Atomic<UInt64>(0)
  private let start: Locked<Start?>

  init(isSteady: Bool) {
    start = Locked(isSteady ? Self.read() : nil)
  }

  /// A time in nanoseconds. Only differences are meaningful.
  @inline(__always)
  var now: UInt64 {
    let rate = rate.load(ordering: .acquiring)
    return rate == 0 ? slowNow() : Self.scaled(switchboard_ticks(), rate) &+ offset.load(ordering: .relaxed)
  }

  @inline(__always)
  private static func scaled(_ ticks: UInt64, _ rate: UInt64) -> UInt64 {
    let (high, low) = ticks.multipliedFullWidth(by: rate)
    return high << 32 | low >> 32
  }

  /// Long enough to be exact, but too short for the system to have been suspended, which stops its clock but perhaps
  /// not the counter.
  private static let measurement: ClosedRange<UInt64> = 20_000_000...1_000_000_000

  @inline(never)
  private func slowNow() -> UInt64 {
    let time = TelemetryClock.monotonic
    start.withLock { start in
      guard let first = start, time &- first.time >= Self.measurement.lowerBound else { return }
      let end = Self.read()
      guard Self.measurement.contains(end.time &- first.time), end.ticks > first.ticks else {
        start = end
        return
      }
      // Measured only once, because another rate would distort the durations of calls in progress.
      start = nil
      let (high, low) = (end.time - first.time).multipliedFullWidth(by: 1 << 32)
      guard high < end.ticks - first.ticks else { return }
      let rate = (end.ticks - first.ticks).dividingFullWidth((high, low)).quotient
      offset.store(end.time &- Self.scaled(end.ticks, rate), ordering: .relaxed)
      self.rate.store(rate, ordering: .releasing)
    }
    return time
  }

  /// Reads both clocks as simultaneously as possible, by the shortest of a few attempts.
  private static func read() -> Start {
    var best: (width: UInt64, start: Start)?
    for _ in 0..<8 {
      let before = switchboard_ticks()
      let time = TelemetryClock.monotonic
      let width = switchboard_ticks() &- before
      if best.map({ width < $0.width }) ?? true {
        best = (width, Start(ticks: before &+ width / 2, time: time))
      }
    }
    return best?.start ?? Start(ticks: 0, time: 0)
  }
}
