import SwitchboardCall

/// Finds loops that do not get on, from what is seen of them every 25 ms.
struct BlockWatch {
  /// How long to wait between two looks, in nanoseconds.
  static let interval: UInt64 = 25_000_000
  /// After so many looks at which nothing has happened, there is nothing to look at.
  static let quietLooks = 10

  /// A loop as it is seen now.
  struct Look {
    let loop: ObjectIdentifier
    let sight: LoopActivity.Sight
    /// How long it may work without waiting for events, in nanoseconds.
    let limit: UInt64
  }

  enum Finding: Equatable {
    /// The loop has worked for too long, and still does, for this method.
    case blocked(ObjectIdentifier, method: UInt, for: UInt64)
    /// A loop that was blocked is not any more.
    case released(ObjectIdentifier, after: UInt64)
  }

  private struct Track {
    var step: UInt64
    /// When this step was first seen.
    var since: UInt64
    var isBlocked = false
  }

  private var tracks: [ObjectIdentifier: Track] = [:]
  private var last: UInt64?
  private var quiet = 0

  /// Whether nothing has happened for so long that the next look can wait until something does.
  var isQuiet: Bool { quiet >= Self.quietLooks }

  mutating func look(_ looks: [Look], at now: UInt64) -> [Finding] {
    // If this thread was kept from looking, so were loops from working: the machine is overloaded, or the process was
    // stopped.
    if let last, now - last > 3 * Self.interval { forgiveAll(at: now) }
    last = now
    let before = tracks
    tracks = [:]
    var findings: [Finding] = []
    var isQuiet = true
    for look in looks {
      let (track, finding) = Self.judge(look, before[look.loop], now)
      tracks[look.loop] = track
      if let finding { findings.append(finding) }
      if look.sight.isWorking || before[look.loop]?.step != look.sight.step { isQuiet = false }
    }
    quiet = isQuiet ? quiet + 1 : 0
    return findings
  }

  /// Begins anew, after a time without looks.
  mutating func restart() {
    last = nil
    quiet = 0
  }

  private mutating func forgiveAll(at now: UInt64) {
    for loop in tracks.keys where tracks[loop]?.isBlocked == false { tracks[loop]?.since = now }
  }

  private static func judge(_ look: Look, _ track: Track?, _ now: UInt64) -> (Track, Finding?) {
    guard var track, track.step == look.sight.step else {
      let track = track.flatMap { $0.isBlocked ? $0 : nil }
      let released = track.map { Finding.released(look.loop, after: now - $0.since) }
      return (Track(step: look.sight.step, since: now), released)
    }
    let time = now - track.since
    guard look.sight.isWorking, !track.isBlocked, time >= look.limit else { return (track, nil) }
    track.isBlocked = true
    return (track, .blocked(look.loop, method: look.sight.method, for: time))
  }
}
