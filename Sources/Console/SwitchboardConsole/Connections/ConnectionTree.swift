import SwitchboardServices
import SwitchboardTransport

/// The servers, channels and connections of the process, line by line.
struct ConnectionTree: Sendable {
  private let query: ViewQuery
  /// The lines that the query asks for.
  private(set) var lines: [ConnectionLine] = []

  init(_ query: ViewQuery) { self.query = query }

  /// Adds a server, whose loops have answered or not.
  mutating func add(
    _ server: ChannelzEntries.KnownServer,
    _ snapshot: ServerSnapshot?,
    _ connections: [ConnectionSnapshot.Reference]
  ) {
    let top = NodeID(.server, server.id)
    guard let snapshot else {
      var line = ConnectionLine(top, 1, server.name)
      line.state = "no answer"
      return add(line, [])
    }
    let listeners = snapshot.listeners.map { listener in
      ConnectionLine(NodeID(.listener, server.id, listener.number), 2, "\(listener.address)")
    }
    let below = connections.map { connection in
      ConnectionLine(NodeID(.serverConnection, server.id, connection.number), 2, connection.name)
    }
    var line = ConnectionLine(top, 1, server.name)
    line.take(snapshot.calls)
    line.state = snapshot.isDraining ? "draining" : "serving"
    add(line, listeners + below)
  }

  mutating func add(_ channel: ChannelzEntries.KnownChannel, _ snapshot: ChannelSnapshot) {
    var below: [ConnectionLine] = []
    for subchannel in snapshot.subchannels {
      var line = ConnectionLine(NodeID(.subchannel, channel.id, subchannel.number), 3, subchannel.target)
      line.state = subchannel.state.shown
      line.take(subchannel.calls)
      line.children = UInt32(clamping: subchannel.connections.count)
      below.append(line)
      guard !line.isClosed(in: query) else { continue }
      below += subchannel.connections.map { connection in
        ConnectionLine(NodeID(.channelConnection, channel.id, connection.number), 4, connection.name)
      }
    }
    var policy = ConnectionLine(NodeID(.policy, channel.id), 2, snapshot.policy)
    policy.state = snapshot.state.shown
    policy.children = UInt32(clamping: below.count)
    if policy.isClosed(in: query) { below = [] }
    let name = channel.name.isEmpty ? snapshot.target : "\(channel.name) (\(snapshot.target))"
    var line = ConnectionLine(NodeID(.channel, channel.id), 1, name)
    line.state = snapshot.state.shown
    line.take(snapshot.calls)
    add(line, [policy] + below)
  }

  /// Adds what the filter includes, and what is above that.
  mutating func add(_ top: ConnectionLine, _ below: [ConnectionLine]) {
    var top = top
    top.children = UInt32(clamping: below.count)
    let included = below.indices.filter { query.includes(below[$0].name) }
    guard query.includes(top.name) || !included.isEmpty else { return }
    lines.append(top)
    guard !top.isClosed(in: query) else { return }
    guard !query.filter.isEmpty, !included.isEmpty else {
      lines += below
      return
    }
    let wanted = Set(included)
    for index in below.indices where wanted.contains(index) || Self.holds(below, index, wanted) {
      lines.append(below[index])
    }
  }

  /// Whether a line that is wanted is below this one.
  private static func holds(_ lines: [ConnectionLine], _ index: Int, _ wanted: Set<Int>) -> Bool {
    let level = lines[index].level
    for next in lines.indices.dropFirst(index + 1) {
      guard lines[next].level > level else { return false }
      if wanted.contains(next) { return true }
    }
    return false
  }
}

extension ConnectionLine {
  fileprivate mutating func take(_ calls: CallCounts) {
    started = UInt64(clamping: calls.started)
    failed = UInt64(clamping: calls.failed)
  }
}
