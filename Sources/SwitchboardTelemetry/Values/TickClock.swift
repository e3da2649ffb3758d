import CTicks
import SwitchboardCall
import Synchronization

/// Measures durations by the processor's count of ticks, which takes a fraction of what the system's clock takes to read.
///
/// How long a tick is, it measures itself, between two readings that are 20 ms to a second apart. Until then, and wherever
/// the system does not trust the count, it reads the system's clock instead. Durations deviate from the system's by some
/// millionths.
final class TickClock: Sendable {
  static let ofProcess = TickClock(isSteady: switchboard_ticks_are_steady() != 0)

  private struct Start: Sendable {
    let ticks: UInt64
    let time: UInt64
  }

  /// The nanoseconds of a tick, in units of 2^-32; 0: not known, or not to be trusted.
  private let rate = Atomic<UInt64>(0)
  /// What makes the ticks go on where the system's clock was. Set before the rate is.
  private let offset = Atomic<UInt64>(0)
  private let start: Locked<Start?>

  init(isSteady: Bool) {
    start = Locked(isSteady ? Self.read() : nil)
  }

  /// Nanoseconds of which only differences mean something.
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

  /// Long enough to be exact, and short enough that the system has hardly been suspended meanwhile, when its clock stops
  /// and the count may not.
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
      // Measured once: a rate that changed would move the times of calls under way.
      start = nil
      let (high, low) = (end.time - first.time).multipliedFullWidth(by: 1 << 32)
      guard high < end.ticks - first.ticks else { return }
      let rate = (end.ticks - first.ticks).dividingFullWidth((high, low)).quotient
      offset.store(end.time &- Self.scaled(end.ticks, rate), ordering: .relaxed)
      self.rate.store(rate, ordering: .releasing)
    }
    return time
  }

  /// Both clocks at one time, as well as can be: the shortest of a few readings.
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
