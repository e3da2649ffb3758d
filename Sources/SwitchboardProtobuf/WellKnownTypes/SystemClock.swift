#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The clock that tells the date. The standard library has only such as measure how time passes.
enum SystemClock {
  /// The seconds since 1970 and the nanoseconds after that.
  static func now() -> (seconds: Int64, nanos: Int32) {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return (Int64(time.tv_sec), Int32(time.tv_nsec))
  }
}
