#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The system's clock for dates. The standard library has only clocks that measure durations.
enum SystemClock {
  /// The seconds since 1970 and the nanoseconds after that.
  static func now() -> (seconds: Int64, nanos: Int32) {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return (Int64(time.tv_sec), Int32(time.tv_nsec))
  }
}
