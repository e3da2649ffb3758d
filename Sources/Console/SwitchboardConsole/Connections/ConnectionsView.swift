import ConsoleMessages
import SwitchboardServices
import SwitchboardTransport

/// Makes the view of servers, channels and their connections.
struct ConnectionsView: ConsoleView {
  static let name = "connections"

  let entries: ConsoleEntries
  let clock: ConsoleClock

  func answer(_ query: ViewQuery) async -> Switchboard_Console_V1_ConnectionsView {
    var tree = ConnectionTree(query)
    for known in entries.servers {
      // With many connections, loops that are busy may take longer.
      tree.add(known, await clock.inTime { await known.server.snapshot() })
    }
    for channel in entries.channels {
      let snapshot = await clock.inTime { await channel.channel.snapshot() }
      if let snapshot { tree.add(channel, snapshot) }
    }
    var view = Switchboard_Console_V1_ConnectionsView()
    view.nodeCount = UInt32(clamping: tree.lines.count)
    view.nodes = Array(query.part(of: tree.lines))
    if let id = NodeID(query.selected), let detail = await detail(of: id) { view.selected = detail }
    return view
  }

  /// `nil` if what the ID names has gone.
  private func detail(of id: NodeID) async -> Switchboard_Console_V1_NodeDetail? {
    switch id.kind {
    case .server, .listener, .serverConnection:
      guard let known = entries.servers.first(where: { $0.id == id.owner }) else { return nil }
      return await detail(of: id, in: known)
    case .channel, .subchannel, .channelConnection:
      guard let known = entries.channels.first(where: { $0.id == id.owner }) else { return nil }
      return await detail(of: id, in: known)
    }
  }

  private func detail(of id: NodeID, in known: ChannelzEntries.KnownServer) async
    -> Switchboard_Console_V1_NodeDetail?
  {
    if id.kind == .serverConnection {
      let found = await clock.inTime { await known.server.connectionSnapshot(id.number) }
      guard let snapshot = found else { return nil }
      var details = NodeDetails(id, snapshot.reference.name)
      details.add(snapshot)
      return details.detail
    }
    guard let snapshot = await clock.figures(of: known.server) else { return nil }
    if id.kind == .listener {
      guard let listener = snapshot.listeners.first(where: { $0.number == id.number }) else { return nil }
      var details = NodeDetails(id, "\(listener.address)")
      details.add("Server", known.name)
      return details.detail
    }
    var details = NodeDetails(id, known.name)
    details.add("State", snapshot.isDraining ? "draining" : "serving")
    details.add("Connections", snapshot.connectionCount)
    details.add("Loops", snapshot.loops.count)
    details.add(snapshot.calls)
    return details.detail
  }

  private func detail(of id: NodeID, in known: ChannelzEntries.KnownChannel) async
    -> Switchboard_Console_V1_NodeDetail?
  {
    if id.kind == .channelConnection {
      let found = await clock.inTime { await known.channel.connectionSnapshot(id.number) }
      guard let snapshot = found else { return nil }
      var details = NodeDetails(id, snapshot.reference.name)
      details.add(snapshot)
      return details.detail
    }
    guard let snapshot = await clock.inTime({ await known.channel.snapshot() }) else { return nil }
    if id.kind == .subchannel {
      guard let subchannel = snapshot.subchannels.first(where: { $0.number == id.number }) else { return nil }
      var details = NodeDetails(id, subchannel.target)
      details.add("State", subchannel.state.shown)
      details.add("Connections", subchannel.connections.count)
      details.add(subchannel.calls)
      return details.detail
    }
    var details = NodeDetails(id, known.name.isEmpty ? snapshot.target : known.name)
    details.add("Target", snapshot.target)
    details.add("State", snapshot.state.shown)
    details.add("Servers", snapshot.subchannels.count)
    details.add("Connections to each server, at most", snapshot.maxConnections)
    details.add(snapshot.calls)
    details.add(snapshot.trace)
    return details.detail
  }
}
