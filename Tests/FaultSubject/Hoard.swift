import Foundation

/// Holds descriptors so that no other code can open any.
struct Hoard {
  private var held: [Int32] = []

  /// Lowers the limit, so that taking them all is quick.
  static func limitDescriptors(to count: Int = 256) {
    var limit = rlimit(rlim_cur: rlim_t(count), rlim_max: rlim_t(count))
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Leaves the process this much more address space. Without it, Swift's allocator ends the process.
  static func limitAddressSpace(toMore byteCount: Int) {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
      .first
    let most = (pages.flatMap { Int($0) } ?? 0) * Int(getpagesize()) + byteCount
    var limit = rlimit(rlim_cur: rlim_t(most), rlim_max: rlim_t(most))
    setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
  }

  /// Takes all free descriptors except for a number of them.
  mutating func takeAll(but left: Int = 0) {
    while case let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC), descriptor >= 0 {
      held.append(descriptor)
    }
    giveBack(left)
  }

  mutating func giveBack(_ count: Int) {
    for descriptor in held.suffix(count) { close(descriptor) }
    held.removeLast(min(count, held.count))
  }

  mutating func giveAllBack() { giveBack(held.count) }
}
