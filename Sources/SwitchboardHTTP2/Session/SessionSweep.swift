/// Packs the sessions of a loop that nobody has entered for a second or two.
///
/// It visits each session that is not packed once a second. A session that is in use pays for that with a few
/// instructions; when all are packed, nothing happens any more.
final class SessionSweep {
  // Unchecked exclusivity: confined to the loop, and no access lasts while other code is called.
  private unowned let loop: Loop
  @exclusivity(unchecked) private var sessions: [Session] = []
  /// The number of sessions that are still to be visited in this round.
  @exclusivity(unchecked) private var left = 0
  @exclusivity(unchecked) private var timer: LoopTimer?

  static let period = Duration.seconds(1)
  /// A round visits this many sessions, and packs at most this many, before the loop does something else.
  private static let visits = 1024
  private static let packs = 32
  private static let pause = Duration.milliseconds(5)

  /// The number of sessions that are not packed.
  var count: Int { sessions.count }
  /// Whether there is anything to do later.
  var isWaiting: Bool { timer != nil }

  init(on loop: Loop) { self.loop = loop }

  /// Adds a session that is awake. It has to be removed before its connection lets go of it.
  func add(_ session: Session) {
    session.place = sessions.count
    sessions.append(session)
    if timer == nil { schedule(after: Self.period) }
  }

  func remove(_ session: Session) {
    guard let place = session.place else { return }
    session.place = nil
    let last = sessions.removeLast()
    guard last !== session else { return }
    sessions[place] = last
    last.place = place
  }

  private func schedule(after delay: Duration) {
    let timer = LoopTimer { [unowned self] in visit() }
    self.timer = timer
    loop.schedule(timer, after: delay)
  }

  /// From the last session to the first, because `remove` moves the last one, which was visited already.
  private func visit() {
    timer = nil
    if left == 0 { left = sessions.count }
    var (visits, packs) = (0, 0)
    left = min(left, sessions.count)
    while left > 0, visits < Self.visits, packs < Self.packs {
      left -= 1
      visits += 1
      let session = sessions[left]
      guard !session.rest() else { continue }
      packs += 1
      remove(session)
    }
    if sessions.isEmpty { sessions = [] } else { schedule(after: left > 0 ? Self.pause : Self.period) }
  }
}
