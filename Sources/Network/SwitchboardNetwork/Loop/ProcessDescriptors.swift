import CLibuv
import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Reserves the descriptors that a process needs once and must not lack later, when others have used them up. Called
/// before the first loop is made.
enum ProcessDescriptors {
  private static let areReady = Locked(false)
  /// The number of descriptors of a loop, including those that libuv opens once per process.
  private static let needed = 8

  /// Returns `false` if there are too few: without some of them, libuv would abort the process.
  static func prepare() -> Bool {
    areReady.withLock { areReady in
      if areReady { return true }
      fillStandardStreams()
      guard areAvailable(needed) else { return false }
      areReady = true
      return true
    }
  }

  /// Why the process cannot open another descriptor; `nil` if it can.
  static var shortage: SocketError? { areAvailable(1) ? nil : SocketError(errno: errno) }

  // MARK: Scarce descriptors

  /// The number of descriptors that a server with many clients leaves to the rest of the process: Dispatch aborts the
  /// process if it cannot inspect its threads, for which it opens a file each second.
  private static func reserve(of limit: Int) -> Int { min(32, limit / 8) }

  /// Whether this descriptor, which was just opened, is among the last: the system assigns the lowest free number.
  static func isScarce(_ descriptor: Int32) -> Bool {
    let limit = Int(clamping: switchboard_descriptor_limit())
    return Int(descriptor) >= limit - reserve(of: limit)
  }

  /// Whether the next descriptor would be among the last.
  static var areScarce: Bool {
    let probe = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard probe >= 0 else { return true }
    defer { close(probe) }
    return isScarce(probe)
  }

  // MARK: Standard streams

  /// Opens the standard streams if they are closed. Otherwise the next descriptors would get their numbers, and a print
  /// would write to a client or to libuv.
  private static func fillStandardStreams() {
    for number in 0...2 as ClosedRange<Int32> where fcntl(number, F_GETFD) < 0 {
      // `open` returns the lowest free number, which is the missing stream's. Child processes should inherit it.
      _ = open("/dev/null", O_RDWR)
    }
  }

  private static func areAvailable(_ count: Int) -> Bool {
    var held: [Int32] = []
    while held.count < count, case let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC), descriptor >= 0 {
      held.append(descriptor)
    }
    let reason = errno
    for descriptor in held { close(descriptor) }
    if held.count < count { errno = reason }
    return held.count == count
  }
}
