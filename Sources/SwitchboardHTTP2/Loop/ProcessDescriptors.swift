import CLibuv
import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What a process needs descriptors for but once, and cannot do without when they have run out later. It is seen to
/// before the first loop is made.
enum ProcessDescriptors {
  private static let areReady = Locked(false)
  /// What a loop takes, with what libuv makes once for the process.
  private static let needed = 8

  /// `false` when there are too few to begin with: libuv would end the process over some of them.
  static func prepare() -> Bool {
    areReady.withLock { areReady in
      if areReady { return true }
      fillStandardStreams()
      guard areThere(needed) else { return false }
      areReady = true
      return true
    }
  }

  /// Whether the process may open another one now. Leaves `errno` as it is where it may not.
  static var areLeft: Bool { areThere(1) }

  // MARK: The last ones

  /// How many are left to the rest of the process, by a server that has more clients than it has descriptors: Dispatch
  /// ends the process where it cannot look at its threads, for which it opens a file each second.
  private static func reserve(of limit: Int) -> Int { min(32, limit / 8) }

  /// Whether this one, which the process just got, was among the last: the lowest that is free is given first.
  static func isScarce(_ descriptor: Int32) -> Bool {
    let limit = Int(clamping: switchboard_descriptor_limit())
    return Int(descriptor) >= limit - reserve(of: limit)
  }

  /// Whether the next one would be among the last.
  static var areScarce: Bool {
    let probe = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard probe >= 0 else { return true }
    defer { close(probe) }
    return isScarce(probe)
  }

  // MARK: The first ones

  /// A process may be started without its three streams. The next descriptors would then be taken for them: a print
  /// would go to a client, or to libuv itself.
  private static func fillStandardStreams() {
    for number in 0...2 as ClosedRange<Int32> where fcntl(number, F_GETFD) < 0 {
      // The lowest that is free is this one. One that programs started by this one are meant to inherit.
      _ = open("/dev/null", O_RDWR)
    }
  }

  private static func areThere(_ count: Int) -> Bool {
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
