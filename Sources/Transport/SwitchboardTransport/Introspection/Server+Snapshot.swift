import SwitchboardNetwork

extension Server {
  /// A snapshot of the server and its connections.
  ///
  /// Queries each loop in turn, without stopping it.
  package func snapshot() async -> ServerSnapshot {
    let core = core
    var snapshot = ServerSnapshot(
      listeners: core.listeners.map {
        ServerSnapshot.ListenerReference(number: $0.number, address: $0.address)
      }
    )
    for loop in core.group.loops {
      let found = await loop.find { core.inventory(of: loop) }
      guard let found else { continue }
      snapshot.calls.add(found.calls, by: found.clock)
      snapshot.connections += found.connections
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
  /// Call on the loop, where none of its connections can open or close meanwhile.
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

  /// Call on that loop.
  func connections(of loop: Loop) -> [ServerConnection] { connections.filter { $0.loop === loop } }
}
