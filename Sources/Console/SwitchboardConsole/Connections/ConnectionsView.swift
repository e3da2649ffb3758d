import ConsoleMessages
import SwitchboardServices
import SwitchboardTransport

/// Makes the view of servers, channels and their connections.
struct ConnectionsView: ConsoleView {
  static let name = "connections"

  let nodes: any NodeSource

  func waitsFor(_ query: ViewQuery) -> String { nodes.waitsFor }

  func answer(_ query: ViewQuery) async -> Switchboard_Console_V1_ConnectionsView {
    var view = Switchboard_Console_V1_ConnectionsView()
    let found = await nodes.tree(query)
    view.nodeCount = UInt32(clamping: found.tree.lines.count)
    view.nodes = query.part(of: found.tree.lines).map(\.message)
    view.missing = found.missing
    if !query.selected.isEmpty, let detail = await nodes.detail(of: query.selected) { view.selected = detail }
    return view
  }
}

/// Where the view of connections has its lines from.
protocol NodeSource: Sendable {
  /// Names what it waits for outside of the process; empty if for nothing.
  var waitsFor: String { get }
  /// The lines that a query asks for, and why there are none, or not all; empty if there is nothing to say.
  func tree(_ query: ViewQuery) async -> (tree: ConnectionTree, missing: String)
  /// What is known of a line; `nil` if it has gone.
  func detail(of id: [UInt8]) async -> Switchboard_Console_V1_NodeDetail?
}

/// The servers and channels of the process.
struct LocalNodes: NodeSource {
  var waitsFor: String { "" }

  let entries: ConsoleEntries
  let clock: ConsoleClock
  let lists: ConnectionLists

  func tree(_ query: ViewQuery) async -> (tree: ConnectionTree, missing: String) {
    var tree = ConnectionTree(query)
    for known in entries.servers {
      // With many connections, loops that are busy may take longer.
      let (snapshot, connections) = await snapshot(of: known)
      tree.add(known, snapshot, connections)
    }
    for channel in entries.channels {
      let snapshot = await clock.inTime { await channel.channel.snapshot() }
      if let snapshot { tree.add(channel, snapshot) }
    }
    return (tree, "")
  }

  /// Of a server with many connections, the list of them may be some seconds old.
  private func snapshot(of known: ChannelzEntries.KnownServer) async -> (
    ServerSnapshot?, connections: [ConnectionSnapshot.Reference]
  ) {
    if let list = lists.list(of: known.id, at: clock.time.now) {
      return (await clock.figures(of: known.server), list)
    }
    let snapshot = await clock.inTime { await known.server.snapshot() }
    guard let snapshot else { return (nil, []) }
    lists.keep(snapshot.connections, of: known.id, at: clock.time.now)
    return (snapshot, snapshot.connections)
  }

  func detail(of text: [UInt8]) async -> Switchboard_Console_V1_NodeDetail? {
    guard let id = NodeID(text) else { return nil }
    switch id.kind {
    case .server, .listener, .serverConnection:
      guard let known = entries.servers.first(where: { $0.id == id.owner }) else { return nil }
      return await detail(of: id, in: known)
    case .channel, .policy, .subchannel, .channelConnection:
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
      if let failure = subchannel.failure { details.add("Last error", "\(failure)") }
      details.add("Connections", subchannel.connections.count)
      details.add(subchannel.calls)
      return details.detail
    }
    let name = known.name.isEmpty ? snapshot.target : known.name
    if id.kind == .policy {
      var details = NodeDetails(id, snapshot.policy)
      details.add("Channel", name)
      details.add("State", snapshot.state.shown)
      details.add("Servers", snapshot.subchannels.count)
      return details.detail
    }
    var details = NodeDetails(id, name)
    details.add("Target", snapshot.target)
    details.add("State", snapshot.state.shown)
    details.add("Servers", snapshot.subchannels.count)
    details.add("Connections to each server, at most", snapshot.maxConnections)
    details.add(snapshot.calls)
    details.add(snapshot.trace)
    return details.detail
  }
}
