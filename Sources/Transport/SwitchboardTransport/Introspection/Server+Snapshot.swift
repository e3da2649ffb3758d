// unsafe: connections of a loop, which only that loop looks at

import SwitchboardNetwork

extension Server {
  /// A snapshot of the server and, if they are listed, of its connections.
  ///
  /// Queries each loop in turn, without stopping it: its connections are added up at once, and named some at a time, since
  /// that takes longer.
  package func snapshot(listsConnections: Bool = true) async -> ServerSnapshot {
    let core = core
    var snapshot = ServerSnapshot(
      listeners: core.listeners.map {
        ServerSnapshot.ListenerReference(number: $0.number, address: $0.address)
      },
      isDraining: core.isDraining
    )
    for loop in core.group.loops {
      let found = await loop.find { core.inventory(of: loop) }
      guard let found else { continue }
      snapshot.calls.add(found.calls, by: found.clock)
      snapshot.loops.append(
        ServerSnapshot.LoopUse(
          id: ObjectIdentifier(loop),
          connections: found.connections.count,
          processorTime: found.processorTime
        )
      )
      guard listsConnections else { continue }
      for start in stride(from: 0, to: found.connections.count, by: LoopConnections.namedAtOnce) {
        snapshot.connections += await loop.find { found.connections.references(from: start) } ?? []
      }
    }
    snapshot.connections.sort { $0.number < $1.number }
    return snapshot
  }

  /// A snapshot of one connection; `nil` once it has ended.
  package func connectionSnapshot(_ number: Int) async -> ConnectionSnapshot? {
    let core = core
    for loop in core.group.loops {
      let found = await loop.find {
        core.connections(of: loop).first { $0.number == number }?.snapshot(number, isServer: true)
      }
      if let found { return found }
    }
    return nil
  }
}

extension ServerCore {
  /// What a loop knows of the server at one moment.
  fileprivate struct Inventory: Sendable {
    let calls: CallTotals
    let connections: LoopConnections
    let clock: LoopClock
    let processorTime: UInt64
  }

  /// Call on the loop, where none of its connections can open or close meanwhile.
  fileprivate func inventory(of loop: Loop) -> Inventory {
    let connections = connections(of: loop)
    var calls = pastCalls(of: loop)
    for connection in connections { calls.add(connection.counters) }
    return Inventory(
      calls: calls,
      connections: LoopConnections(connections),
      clock: LoopClock(loop),
      processorTime: loop.processorTime
    )
  }

  /// Call on that loop.
  func connections(of loop: Loop) -> [ServerConnection] {
    connections.filter { $0.loop === loop }
  }
}

/// The connections of a server on one loop.
private struct LoopConnections: @unchecked Sendable {
  // Sendable because other threads only hold the connections, and count them.
  private let connections: [ServerConnection]

  /// How many are named in a turn of the loop.
  static let namedAtOnce = 100

  init(_ connections: [ServerConnection]) { self.connections = connections }

  var count: Int { connections.count }

  /// The names of the next ones, but of those that have closed. Call on the loop.
  func references(from start: Int) -> [ConnectionSnapshot.Reference] {
    connections.dropFirst(start).prefix(Self.namedAtOnce).filter { !$0.isClosed }.map {
      $0.reference($0.number)
    }
  }
}
