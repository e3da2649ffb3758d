#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The time in nanoseconds since an unspecified moment. Reading it costs less than the standard library's clock, whose
/// instants have a layout that is known only at run time.
package enum MonotonicClock {
  package static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
