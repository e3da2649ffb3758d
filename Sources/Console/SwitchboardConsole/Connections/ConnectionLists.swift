import SwitchboardCall
import SwitchboardTransport

/// The latest lists of the connections of servers that have many. To name ten thousand takes 40 to 60 ms of a processor, most of it on
/// the server's own loops, so that a viewer gets a list again until it is so old that a new one takes less than a hundredth of
/// a processor's time.
final class ConnectionLists: Sendable {
  private struct Kept: Sendable {
    let made: ContinuousClock.Instant
    let connections: [ConnectionSnapshot.Reference]
  }

  private let kept = Locked<[Int64: Kept]>([:])

  /// Shorter lists are always made anew.
  static let fewest = 1000
  /// How long a list holds, for each of its connections.
  private static let time = Duration.milliseconds(1)

  /// The list of a server, if it has one that still holds.
  func list(of server: Int64, at now: ContinuousClock.Instant) -> [ConnectionSnapshot.Reference]? {
    guard let kept = kept.withLock({ $0[server] }), Self.holds(kept, at: now) else { return nil }
    return kept.connections
  }

  func keep(
    _ connections: [ConnectionSnapshot.Reference],
    of server: Int64,
    at now: ContinuousClock.Instant
  ) {
    guard connections.count >= Self.fewest else { return }
    kept.withLock { $0[server] = Kept(made: now, connections: connections) }
  }

  /// Forgets the lists that hold no more, so that nothing stays when nobody looks.
  func forgetOld(at now: ContinuousClock.Instant) {
    kept.withLock { kept in kept = kept.filter { Self.holds($0.value, at: now) } }
  }

  private static func holds(_ kept: Kept, at now: ContinuousClock.Instant) -> Bool {
    kept.made.duration(to: now) < time * kept.connections.count
  }
}
