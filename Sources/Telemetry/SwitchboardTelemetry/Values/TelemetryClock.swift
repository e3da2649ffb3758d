import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The clock of all signals. Its readings measure durations and can be converted to dates.
final class TelemetryClock: Sendable {
  private let reading: (@Sendable () -> UInt64)?
  private let ticks: TickClock
  /// The date in nanoseconds since 1970 at which the monotonic clock would have been 0.
  private let origin: Atomic<UInt64>

  /// The system's clock.
  init() {
    reading = nil
    ticks = .ofProcess
    origin = Atomic(Self.systemOrigin)
  }

  /// A clock for tests, in nanoseconds since 1970.
  init(_ reading: @escaping @Sendable () -> UInt64) {
    self.reading = reading
    ticks = .ofProcess
    origin = Atomic(0)
  }

  /// The current reading: nanoseconds that only grow.
  @inline(__always)
  var now: UInt64 {
    if let reading { return reading() }
    return Self.monotonic
  }

  /// The start or the end of a duration, in nanoseconds. It is faster to read than `now`, but has no date: use it only
  /// with `duration`.
  @inline(__always)
  var mark: UInt64 {
    if let reading { return reading() }
    return ticks.now
  }

  /// The time between two marks. It is never negative, although processors may differ by some nanoseconds.
  @inline(__always)
  static func duration(from start: UInt64, to end: UInt64) -> Int {
    max(0, Int(truncatingIfNeeded: end &- start))
  }

  /// The date of a reading, in nanoseconds since 1970.
  func date(of reading: UInt64) -> UInt64 { reading &+ origin.load(ordering: .relaxed) }

  /// The reading at a date. It wraps around if the date is before the clock's zero.
  func reading(at date: UInt64) -> UInt64 { date &- origin.load(ordering: .relaxed) }

  /// Follows changes of the system's date.
  func adjust() {
    if reading == nil { origin.store(Self.systemOrigin, ordering: .relaxed) }
  }

  private static var systemOrigin: UInt64 { read(CLOCK_REALTIME) &- monotonic }

  /// The system's monotonic clock, in nanoseconds.
  static var monotonic: UInt64 { read(CLOCK_MONOTONIC) }

  private static func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000
      &+ UInt64(truncatingIfNeeded: time.tv_nsec)
  }
}
