import ConsoleMessages
import SwitchboardCall
import SwitchboardServices

/// The servers, channels and connections that a server of another process shows by channelz.
actor RemoteNodes: NodeSource {
  private let remote: RemoteServer
  private let clock: ConsoleClock
  private var known: (made: ContinuousClock.Instant, inventory: ChannelzInventory?)?
  private var problem = ""

  /// How old what is shown may be: to read it takes many calls.
  static let freshness = Duration.seconds(2)
  /// How deep channels may be nested. A server may name any channel below any other.
  static let mostLevels = 20

  init(_ remote: RemoteServer, _ clock: ConsoleClock) {
    self.remote = remote
    self.clock = clock
  }

  private func inventory() async -> ChannelzInventory? {
    if let known, known.made.duration(to: clock.time.now) < Self.freshness { return known.inventory }
    let remote = remote
    let (inventory, problem) = await clock.stopping(after: RemoteServer.patience) {
      await Self.read(remote)
    }
    self.problem = problem
    known = (clock.time.now, inventory)
    return inventory
  }

  private static func read(_ remote: RemoteServer) async -> (ChannelzInventory?, String) {
    do {
      let inventory = try await remote.channelz.read()
      if Task.isCancelled { return (inventory, "\(remote.slowness): it may have more than is shown") }
      return (inventory, inventory.left > 0 ? "\(remote.peer.text) has more than is shown" : "")
    } catch {
      return (nil, remote.reason(error))
    }
  }

  nonisolated var waitsFor: String { "channelz" }

  func tree(_ query: ViewQuery) async -> (tree: ConnectionTree, missing: String) {
    var tree = ConnectionTree(query)
    if let inventory = await inventory() {
      for server in inventory.servers { tree.add(server, inventory) }
      for channel in inventory.channels { tree.add(channel, inventory, query) }
    }
    return (tree, problem)
  }

  func detail(of id: [UInt8]) async -> Switchboard_Console_V1_NodeDetail? {
    guard let id = NodeID(id), let inventory = await inventory() else { return nil }
    switch id.kind {
    case .server:
      return inventory.servers.first { $0.ref.serverID == id.owner }.map { server in
        var details = NodeDetails(id, server.ref.name)
        details.add(server.data.callsStarted, server.data.callsSucceeded, server.data.callsFailed)
        details.add("Listens on", server.listenSocket.map(\.name).joined(separator: ", "))
        return details.detail
      }
    case .channel:
      let channel = inventory.channels.first { $0.ref.channelID == id.owner } ?? inventory.nested[id.owner]
      return channel.map { details(id, $0.ref.name, $0.data) }
    case .subchannel:
      return inventory.subchannels[id.owner].map { details(id, $0.ref.name, $0.data) }
    case .serverConnection, .channelConnection:
      return inventory.sockets[id.owner].map { socket in
        var details = NodeDetails(id, socket.ref.name)
        details.add(socket)
        return details.detail
      }
    case .listener, .policy: return nil
    }
  }

  private func details(_ id: NodeID, _ name: String, _ data: Grpc_Channelz_V1_ChannelData)
    -> Switchboard_Console_V1_NodeDetail
  {
    var details = NodeDetails(id, name)
    details.add("Target", data.target)
    details.add("State", data.state.state.shown)
    details.add(data.callsStarted, data.callsSucceeded, data.callsFailed)
    return details.detail
  }
}

extension ConnectionTree {
  fileprivate mutating func add(_ server: Grpc_Channelz_V1_Server, _ inventory: ChannelzInventory) {
    let id = server.ref.serverID
    var top = ConnectionLine(NodeID(.server, id), 1, server.ref.name)
    top.take(server.data.callsStarted, server.data.callsFailed)
    let listeners = server.listenSocket.map { ConnectionLine(NodeID(.listener, $0.socketID), 2, $0.name) }
    let sockets = inventory.serverSockets[id] ?? []
    add(top, listeners + sockets.map { ConnectionLine(NodeID(.serverConnection, $0.socketID), 2, $0.name) })
  }

  fileprivate mutating func add(
    _ channel: Grpc_Channelz_V1_Channel,
    _ inventory: ChannelzInventory,
    _ query: ViewQuery
  ) {
    var walk = Walk(inventory: inventory, query: query)
    let top = walk.line(.channel, channel.ref.channelID, channel.ref.name, channel.data, 1)
    walk.below(channel.channelRef, channel.subchannelRef, channel.socketRef, 2)
    add(top, walk.lines)
  }

  /// Goes through what is below a channel. Each entry is shown once, so that cyclic references end.
  private struct Walk {
    let inventory: ChannelzInventory
    let query: ViewQuery
    private(set) var lines: [ConnectionLine] = []
    private var seen: Set<Int64> = []

    init(inventory: ChannelzInventory, query: ViewQuery) {
      (self.inventory, self.query) = (inventory, query)
    }

    func line(
      _ kind: NodeID.Kind,
      _ id: Int64,
      _ name: String,
      _ data: Grpc_Channelz_V1_ChannelData,
      _ level: UInt32
    ) -> ConnectionLine {
      let isSame = name.utf8.elementsEqual(data.target.utf8) || data.target.isEmpty
      let shown = isSame ? name : name.isEmpty ? data.target : "\(name) (\(data.target))"
      var line = ConnectionLine(NodeID(kind, id), level, shown)
      line.state = data.state.state.shown
      line.take(data.callsStarted, data.callsFailed)
      return line
    }

    mutating func below(
      _ channels: [Grpc_Channelz_V1_ChannelRef],
      _ subchannels: [Grpc_Channelz_V1_SubchannelRef],
      _ sockets: [Grpc_Channelz_V1_SocketRef],
      _ level: UInt32
    ) {
      guard level < RemoteNodes.mostLevels else { return }
      for ref in channels where seen.insert(ref.channelID).inserted {
        guard let found = inventory.nested[ref.channelID] else { continue }
        append(line(.channel, ref.channelID, found.ref.name, found.data, level)) {
          $0.below(found.channelRef, found.subchannelRef, found.socketRef, level + 1)
        }
      }
      for ref in subchannels where seen.insert(ref.subchannelID).inserted {
        guard let found = inventory.subchannels[ref.subchannelID] else { continue }
        append(line(.subchannel, ref.subchannelID, found.ref.name, found.data, level)) {
          $0.below(found.channelRef, found.subchannelRef, found.socketRef, level + 1)
        }
      }
      for ref in sockets where seen.insert(ref.socketID).inserted {
        lines.append(ConnectionLine(NodeID(.channelConnection, ref.socketID), level, ref.name))
      }
    }

    private mutating func append(_ line: ConnectionLine, _ children: (inout Walk) -> Void) {
      let index = lines.count
      lines.append(line)
      children(&self)
      lines[index].children = UInt32(clamping: lines.count - index - 1)
      if line.isClosed(in: query) { lines.removeSubrange((index + 1)...) }
    }
  }
}

extension ConnectionLine {
  fileprivate mutating func take(_ started: Int64, _ failed: Int64) {
    (self.started, self.failed) = (UInt64(clamping: started), UInt64(clamping: failed))
  }
}

extension NodeDetails {
  fileprivate mutating func add(_ started: Int64, _ succeeded: Int64, _ failed: Int64) {
    add("Calls started", "\(started)")
    add("Calls succeeded", "\(succeeded)")
    add("Calls failed", "\(failed)")
  }

  fileprivate mutating func add(_ socket: Grpc_Channelz_V1_Socket) {
    let data = socket.data
    add("Streams", "\(data.streamsStarted)")
    add("Streams that failed", "\(data.streamsFailed)")
    add("Messages sent", "\(data.messagesSent)")
    add("Messages received", "\(data.messagesReceived)")
    add("Pings sent", "\(data.keepAlivesSent)")
    if data.hasLocalFlowControlWindow { add("Window to send", "\(data.localFlowControlWindow.value) bytes") }
    if data.hasRemoteFlowControlWindow {
      add("Window to receive", "\(data.remoteFlowControlWindow.value) bytes")
    }
    if case .tls(let tls)? = socket.security.model {
      add("TLS", tls.standardName)
    } else {
      add("TLS", "none")
    }
  }
}

extension Grpc_Channelz_V1_ChannelConnectivityState.State {
  fileprivate var shown: String {
    switch self {
    case .unknown: "UNKNOWN"
    case .idle: "IDLE"
    case .connecting: "CONNECTING"
    case .ready: "READY"
    case .transientFailure: "TRANSIENT_FAILURE"
    case .shutdown: "SHUTDOWN"
    case .UNRECOGNIZED(let number): "\(number)"
    }
  }
}
