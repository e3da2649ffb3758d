import Foundation

/// The processor time of the process, in user and system mode, which other load on the machine does not increase.
enum ProcessTime {
  static var nanoseconds: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
  }

  private static func nanoseconds(_ time: timeval) -> Double {
    Double(time.tv_sec) * 1e9 + Double(time.tv_usec) * 1e3
  }
}
