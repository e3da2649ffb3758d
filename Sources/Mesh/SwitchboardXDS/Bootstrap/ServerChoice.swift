/// A control plane of a bootstrap, by its position among all of them.
typealias ServerID = Int

/// Which control planes of an authority are asked, and which of them is in use (gRFC A71).
///
/// ```
///   asked:    first          first, second          first, second, third
///   in use:   first ──────>  second ─────────────>  third
///               ^              │  ^                   │
///               └──an answer───┘  └──an answer────────┘
/// ```
///
/// To the right: the one in use cannot be asked, and that matters. All that are preferred to the one in use are still asked. To the
/// left: one of those answers again. What comes after the one in use is not asked.
struct ServerChoice: Hashable, Sendable {
  /// The preferred one first.
  let servers: [ServerID]
  /// Whether it always matters that the one in use cannot be asked, and not only when something is missing (gRFC A95).
  let isByReachability: Bool
  private var count = 0

  /// `servers` has each control plane once, and at least one.
  init(_ servers: [ServerID], isByReachability: Bool = false) {
    self.servers = servers
    self.isByReachability = isByReachability
  }

  /// Those that are asked for all that is watched.
  var asked: ArraySlice<ServerID> { servers.prefix(count) }

  /// The one whose answers count, and whose silence does. `nil` while nothing is watched.
  var inUse: ServerID? { asked.last }

  func asks(_ server: ServerID) -> Bool { asked.contains(server) }

  /// Something is watched: the preferred one is asked.
  mutating func begin() { count = max(1, count) }

  /// Nothing is watched any more: nobody is asked.
  mutating func end() { count = 0 }

  /// Looks for one that can be asked, in place of the one in use. If there is none, all are asked.
  mutating func moveOn(_ hasFailed: (ServerID) -> Bool) {
    guard let inUse, hasFailed(inUse) else { return }
    let further = servers.indices.dropFirst(count).first { !hasFailed(servers[$0]) }
    let found = further ?? servers.indices.first { !hasFailed(servers[$0]) }
    count = (found ?? servers.count - 1) + 1
  }

  /// One that is asked has sent what is watched.
  mutating func answered(_ server: ServerID) {
    guard let position = asked.firstIndex(of: server) else { return }
    count = position + 1
  }
}
