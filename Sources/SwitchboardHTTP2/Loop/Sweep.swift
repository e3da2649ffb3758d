/// Packs what nobody on a loop has used for a second or two: sessions, and what TLS keeps for connections.
///
/// It visits everything that is not packed once a second. What is in use pays for that with a few instructions; when all
/// is packed, nothing happens any more.
final class Sweep {
  // Unchecked exclusivity: confined to the loop, and no access lasts while other code is called.
  private unowned let loop: Loop
  @exclusivity(unchecked) private var members: [any Packable] = []
  /// The number of members that are still to be visited in this round.
  @exclusivity(unchecked) private var left = 0
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
    member.memory.place = members.count
    members.append(member)
    if timer == nil { schedule(after: Self.period) }
  }

  func remove(_ member: any Packable) {
    guard let place = member.memory.place else { return }
    member.memory.place = nil
    let last = members.removeLast()
    guard last !== member else { return }
    members[place] = last
    last.memory.place = place
  }

  private func schedule(after delay: Duration) {
    let timer = LoopTimer { [unowned self] in visit() }
    self.timer = timer
    loop.schedule(timer, after: delay)
  }

  /// From the last member to the first, because `remove` moves the last one, which was visited already.
  private func visit() {
    timer = nil
    if left == 0 { left = members.count }
    var (visits, packs) = (0, 0)
    left = min(left, members.count)
    while left > 0, visits < Self.visits, packs < Self.packs {
      left -= 1
      visits += 1
      let member = members[left]
      guard !member.memory.rest() else { continue }
      packs += 1
      remove(member)
    }
    if members.isEmpty { members = [] } else { schedule(after: left > 0 ? Self.pause : Self.period) }
  }
}
