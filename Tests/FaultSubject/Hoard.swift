import Foundation

/// Descriptors that are held so that nobody else can have them.
struct Hoard {
  private var held: [Int32] = []

  /// Makes it quick to take them all.
  static func limitDescriptors(to count: Int = 256) {
    var limit = rlimit(rlim_cur: rlim_t(count), rlim_max: rlim_t(count))
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Takes all that there are, but for so many.
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
