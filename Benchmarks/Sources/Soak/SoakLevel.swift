import CAllocator
import Foundation
import Switchboard
import Synchronization

/// The resources of the process.
struct SoakLevel: CustomStringConvertible {
  /// Servers, channels, event loops, calls and connections.
  var objects: Int
  var descriptors: Int
  var threads: Int
  /// Bytes allocated and not freed.
  var heap: Int

  var description: String {
    "\(objects) objects, \(descriptors) descriptors, \(threads) threads, \(heap >> 10) KiB of heap"
  }

  /// The resources once they are no higher than expected: loops end their threads and sockets shortly after they are
  /// released. Stops waiting after some seconds.
  static func settled(_ held: HeldObjects, _ ledger: SoakLedger, expected: SoakLevel?) async -> SoakLevel {
    var level = now(held, ledger)
    var stable = 0
    for _ in 0..<400 where stable < 5 {
      try? await Task.sleep(for: .milliseconds(50))
      let next = now(held, ledger)
      let isDone =
        next.objects == 0 && next.descriptors <= expected?.descriptors ?? level.descriptors
        && next.threads <= expected?.threads ?? level.threads
      stable = isDone ? stable + 1 : 0
      level = next
    }
    return level
  }

  private static func now(_ held: HeldObjects, _ ledger: SoakLedger) -> SoakLevel {
    SoakLevel(
      objects: held.count + ledger.open,
      descriptors: count("/proc/self/fd"),
      threads: count("/proc/self/task"),
      heap: Int(switchboard_allocated_bytes())
    )
  }

  private static func count(_ directory: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: directory).count) ?? 0
  }
}

/// Objects that must not exist after a round.
final class HeldObjects: Sendable {
  private struct Reference: Sendable {
    weak let object: (any AnyObject & Sendable)?
  }

  private let references = Mutex<[Reference]>([])

  func watch<Object: AnyObject & Sendable>(_ object: Object) -> Object {
    references.withLock { $0.append(Reference(object: object)) }
    return object
  }

  /// A loop group for one server or channel: its thread retains it while it runs.
  func watchedGroup() throws -> LoopGroup {
    let group = try LoopGroup()
    for loop in group.loops { _ = watch(loop) }
    return group
  }

  var count: Int { references.withLock { $0.count { $0.object != nil } } }
}
