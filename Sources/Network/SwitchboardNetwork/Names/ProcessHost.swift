#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The machine that the process runs on.
enum ProcessHost {
  /// The system's host name; empty if it is too long.
  static var name: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
