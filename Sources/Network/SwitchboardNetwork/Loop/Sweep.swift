// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks
// trap: unowned: the loop owns it, and each member retains the loop

/// Packs the memory of a loop's sessions and TLS connections that were not used for a second or two.
///
/// It visits each member that is not packed once per second, which costs a member in use a few instructions. When all
/// are packed, it stops.
package final class Sweep {
  // Unchecked exclusivity: confined to the loop, and no access lasts while other code is called.
  private unowned let loop: Loop
  @exclusivity(unchecked) private var members: [any Packable] = []
  /// The number of members that are still to be visited in this round.
  @exclusivity(unchecked) private var remaining = 0
  @exclusivity(unchecked) private var timer: LoopTimer?

  static let period = Duration.seconds(1)
  /// A round visits this many members, and packs at most this many, before the loop does something else.
  private static let visits = 1024
  private static let packs = 32
  private static let pause = Duration.milliseconds(5)

  /// The number of members, none of which is packed.
  var count: Int { members.count }
  /// Whether there is anything to do later.
  var isWaiting: Bool { timer != nil }

  init(on loop: Loop) { self.loop = loop }

  /// Adds a member that is awake. It has to be removed before its connection releases it.
  func add(_ member: any Packable) {
    member.memory.index = members.count
    members.append(member)
    if timer == nil { schedule(after: Self.period) }
  }

  func remove(_ member: any Packable) {
    guard let index = member.memory.index else { return }
    member.memory.index = nil
    let last = members.removeLast()
    guard last !== member else { return }
    members[index] = last
    last.memory.index = index
  }

  private func schedule(after delay: Duration) {
    let timer = LoopTimer { [weak self] in self?.visit() }
    self.timer = timer
    loop.schedule(timer, after: delay)
  }

  /// From the last member to the first, because `remove` moves the last one, which was visited already.
  private func visit() {
    timer = nil
    if remaining == 0 { remaining = members.count }
    var (visits, packs) = (0, 0)
    remaining = min(remaining, members.count)
    while remaining > 0, visits < Self.visits, packs < Self.packs {
      remaining -= 1
      visits += 1
      let member = members[remaining]
      guard !member.memory.age() else { continue }
      packs += 1
      remove(member)
      member.memoryWasPacked()
    }
    if members.isEmpty { members = [] } else { schedule(after: remaining > 0 ? Self.pause : Self.period) }
  }
}
