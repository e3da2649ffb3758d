extension Server {
  /// What the server has done, and what is connected to it.
  ///
  /// Asks each loop in turn; nothing waits for it.
  public func snapshot() async -> ServerSnapshot {
    let core = core
    var snapshot = ServerSnapshot(listeners: core.listenerReferences)
    for loop in core.group.loops {
      let found = await loop.find { core.inventory(of: loop) }
      guard let found else { continue }
      snapshot.calls.add(found.calls, by: found.clock)
      snapshot.connections += found.connections
    }
    snapshot.connections.sort { $0.number < $1.number }
    return snapshot
  }

  /// One of the connections in full; `nil` once it has ended.
  public func connectionSnapshot(_ number: Int) async -> ConnectionSnapshot? {
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
  /// What one loop has to tell.
  struct Inventory: Sendable {
    let calls: CallTotals
    let connections: [ConnectionSnapshot.Reference]
    let clock: LoopClock
  }

  /// On the loop, where no connection of it can come or go meanwhile.
  func inventory(of loop: Loop) -> Inventory {
    let connections = connections(of: loop)
    var calls = pastCalls(of: loop)
    for connection in connections { calls.add(connection.counters) }
    return Inventory(
      calls: calls,
      connections: connections.map { $0.reference($0.number) },
      clock: LoopClock(loop)
    )
  }

  /// To be used on that loop.
  func connections(of loop: Loop) -> [ServerConnection] { connections.filter { $0.loop === loop } }
}
