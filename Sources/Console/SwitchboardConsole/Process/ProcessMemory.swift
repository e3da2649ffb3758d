#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The memory that the process occupies.
enum ProcessMemory {
  /// In bytes; zero where the system does not tell.
  static var resident: UInt64 {
    #if os(Linux)
      let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return 0 }
      defer { close(descriptor) }
      var text = [UInt8](repeating: 0, count: 128)
      let count = read(descriptor, &text, text.count)
      guard count > 0 else { return 0 }
      // The second number is that of pages that are in memory.
      let numbers = text[..<count].split(separator: UInt8(ascii: " "))
      guard numbers.count > 1, let pages = UInt64(String(decoding: numbers[1], as: UTF8.self)) else {
        return 0
      }
      return pages * UInt64(max(0, sysconf(Int32(_SC_PAGESIZE))))
    #else
      return 0
    #endif
  }

  /// The processors that the process may use.
  static var processors: Int {
    #if os(Linux)
      return max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    #else
      return 0
    #endif
  }
}
