import ConsoleMessages
import SwitchboardServices
import SwitchboardTransport

/// The servers, channels and connections of the process, line by line.
struct ConnectionTree: Sendable {
  private let query: ViewQuery
  /// The lines that the query asks for.
  private(set) var lines: [Switchboard_Console_V1_Node] = []

  init(_ query: ViewQuery) { self.query = query }

  /// Adds a server, whose loops have answered or not.
  mutating func add(_ server: ChannelzEntries.KnownServer, _ snapshot: ServerSnapshot?) {
    let top = NodeID(.server, server.id)
    guard let snapshot else {
      var line = Self.line(top, 1, server.name)
      line.state = "no answer"
      return add(line, [])
    }
    let listeners = snapshot.listeners.map { listener in
      Self.line(NodeID(.listener, server.id, listener.number), 2, "\(listener.address)")
    }
    let connections = snapshot.connections.map { connection in
      Self.line(NodeID(.serverConnection, server.id, connection.number), 2, connection.name)
    }
    var line = Self.line(top, 1, server.name)
    line.take(snapshot.calls)
    line.state = snapshot.isDraining ? "draining" : "serving"
    add(line, listeners + connections)
  }

  mutating func add(_ channel: ChannelzEntries.KnownChannel, _ snapshot: ChannelSnapshot) {
    var below: [Switchboard_Console_V1_Node] = []
    for subchannel in snapshot.subchannels {
      var line = Self.line(NodeID(.subchannel, channel.id, subchannel.number), 2, subchannel.target)
      line.state = subchannel.state.shown
      line.take(subchannel.calls)
      line.children = UInt32(clamping: subchannel.connections.count)
      below.append(line)
      guard !query.closed.contains(Array(line.id.utf8)) else { continue }
      below += subchannel.connections.map { connection in
        Self.line(NodeID(.channelConnection, channel.id, connection.number), 3, connection.name)
      }
    }
    let name = channel.name.isEmpty ? snapshot.target : "\(channel.name) (\(snapshot.target))"
    var line = Self.line(NodeID(.channel, channel.id), 1, name)
    line.state = snapshot.state.shown
    line.take(snapshot.calls)
    add(line, below)
  }

  /// Adds what the filter includes, and what is above that.
  mutating func add(_ top: Switchboard_Console_V1_Node, _ below: [Switchboard_Console_V1_Node]) {
    var top = top
    top.children = UInt32(clamping: below.count)
    let included = below.indices.filter { query.includes(below[$0].name) }
    guard query.includes(top.name) || !included.isEmpty else { return }
    lines.append(top)
    guard !query.closed.contains(Array(top.id.utf8)) else { return }
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
  private static func holds(_ lines: [Switchboard_Console_V1_Node], _ index: Int, _ wanted: Set<Int>) -> Bool
  {
    let level = lines[index].level
    for next in lines.indices.dropFirst(index + 1) {
      guard lines[next].level > level else { return false }
      if wanted.contains(next) { return true }
    }
    return false
  }

  static func line(_ id: NodeID, _ level: UInt32, _ name: String) -> Switchboard_Console_V1_Node {
    .with {
      $0.id = id.text
      $0.kind = id.kind.shown
      $0.level = level
      $0.name = name.isEmpty ? id.kind.rawValue : name
    }
  }
}

extension Switchboard_Console_V1_Node {
  fileprivate mutating func take(_ calls: CallCounts) {
    callsStarted = UInt64(clamping: calls.started)
    callsFailed = UInt64(clamping: calls.failed)
  }
}
