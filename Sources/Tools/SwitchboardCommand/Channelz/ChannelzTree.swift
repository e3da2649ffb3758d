import Switchboard
import SwitchboardServices

/// Draws the state that channelz reported. With a previous inventory, also shows how fast the counts grow.
struct ChannelzTree {
  private(set) var lines: [ShownText] = []
  private let inventory: ChannelzInventory
  private let last: ChannelzInventory?
  private let paint: Painter
  private var drawn: Set<Int64> = []

  init(_ inventory: ChannelzInventory, since last: ChannelzInventory?, _ paint: Painter) {
    self.inventory = inventory
    self.last = last
    self.paint = paint
    for server in inventory.servers { draw(server) }
    for channel in inventory.channels { draw(channel, Node("", "")) }
    if inventory.left > 0 { lines.append(paint(.comment, "… and more")) }
  }

  /// The position of a line in the tree.
  private struct Node {
    let prefix: ShownText
    let indent: ShownText
    let depth: Int

    init(_ prefix: ShownText, _ indent: ShownText, depth: Int = 0) {
      self.prefix = prefix
      self.indent = indent
      self.depth = depth
    }

    func child(isLast: Bool) -> Node {
      Node(indent + (isLast ? "└── " : "├── "), indent + (isLast ? "    " : "│   "), depth: depth + 1)
    }
  }

  private struct Calls {
    let started, succeeded, failed: Int64
  }

  private mutating func draw(_ server: Grpc_Channelz_V1_Server) {
    let before = last?.servers.first { $0.ref.serverID == server.ref.serverID }
    let calls = Calls(
      started: server.data.callsStarted,
      succeeded: server.data.callsSucceeded,
      failed: server.data.callsFailed
    )
    lines.append(
      "\(title("server", server.ref.name, server.ref.serverID))  \(text(calls, before?.data.callsStarted))"
    )
    let listeners = server.listenSocket.map { socket -> ShownText in "listens on \(socket.name)" }
    let sockets = inventory.serverSockets[server.ref.serverID] ?? []
    let count = listeners.count + sockets.count
    let root = Node("", "")
    for (index, listener) in listeners.enumerated() {
      lines.append(root.child(isLast: index == count - 1).prefix + listener)
    }
    for (index, socket) in sockets.enumerated() {
      draw(socket, root.child(isLast: listeners.count + index == count - 1))
    }
  }

  private mutating func draw(_ channel: Grpc_Channelz_V1_Channel, _ node: Node) {
    let id = channel.ref.channelID
    let before = last.flatMap { last in last.nested[id] ?? last.channels.first { $0.ref.channelID == id } }
    draw("channel", channel.ref.name, id: id, channel.data, before: before?.data.callsStarted, at: node)
    drawBelow(id, channel.channelRef, channel.subchannelRef, channel.socketRef, node)
  }

  private mutating func draw(
    _ kind: String,
    _ name: String,
    id: Int64,
    _ data: Grpc_Channelz_V1_ChannelData,
    before: Int64?,
    at node: Node
  ) {
    let calls = Calls(started: data.callsStarted, succeeded: data.callsSucceeded, failed: data.callsFailed)
    let target: ShownText = data.target.isEmpty || data.target == name ? "" : " → \(data.target)"
    lines.append(
      "\(node.prefix)\(title(kind, name, id))\(target)  \(state(data.state.state))  \(text(calls, before))"
    )
  }

  private mutating func drawBelow(
    _ id: Int64,
    _ channels: [Grpc_Channelz_V1_ChannelRef],
    _ subchannels: [Grpc_Channelz_V1_SubchannelRef],
    _ sockets: [Grpc_Channelz_V1_SocketRef],
    _ node: Node
  ) {
    guard drawn.insert(id).inserted, node.depth < 50 else { return }
    let count = channels.count + subchannels.count + sockets.count
    var index = 0
    func next() -> Node {
      defer { index += 1 }
      return node.child(isLast: index == count - 1)
    }
    for ref in channels {
      let child = next()
      if let channel = inventory.nested[ref.channelID] { draw(channel, child) }
    }
    for ref in subchannels {
      let child = next()
      guard let found = inventory.subchannels[ref.subchannelID] else { continue }
      let before = last?.subchannels[ref.subchannelID]?.data.callsStarted
      draw("subchannel", found.ref.name, id: ref.subchannelID, found.data, before: before, at: child)
      drawBelow(ref.subchannelID, found.channelRef, found.subchannelRef, found.socketRef, child)
    }
    for ref in sockets { draw(ref, next()) }
  }

  private mutating func draw(_ ref: Grpc_Channelz_V1_SocketRef, _ node: Node) {
    guard let socket = inventory.sockets[ref.socketID] else {
      return lines.append(node.prefix + title("socket", ref.name, ref.socketID))
    }
    let data = socket.data
    let before = last?.sockets[ref.socketID]?.data
    let open = data.streamsStarted &- data.streamsSucceeded &- data.streamsFailed
    var facts: [ShownText] = [
      "\(data.streamsStarted) streams\(rate(data.streamsStarted, before?.streamsStarted)), \(open) open"
    ]
    facts.append("sent \(data.messagesSent)\(rate(data.messagesSent, before?.messagesSent))")
    facts.append("received \(data.messagesReceived)\(rate(data.messagesReceived, before?.messagesReceived))")
    if case .tls(let tls)? = socket.security.model { facts.append("TLS \(tls.standardName)") }
    lines.append("\(node.prefix)\(title("socket", ref.name, ref.socketID))  \(facts.joined(separator: ", "))")
  }

  // MARK: Words

  private func title(_ kind: String, _ name: String, _ id: Int64) -> ShownText {
    let number: ShownText = name.isEmpty ? "" : paint(.comment, " #\(id)")
    return "\(kind) \(paint(.name, name.isEmpty ? "#\(id)" : ShownText(name)))\(number)"
  }

  private func text(_ calls: Calls, _ before: Int64?) -> ShownText {
    let failed: ShownText = calls.failed > 0 ? paint(.bad, "\(calls.failed) failed") : "0 failed"
    let open = calls.started &- calls.succeeded &- calls.failed
    return
      "\(calls.started) calls\(rate(calls.started, before)), \(calls.succeeded) ok, \(failed), \(open) open"
  }

  private func rate(_ now: Int64, _ before: Int64?) -> ShownText {
    guard let before, let last else { return "" }
    let parts = (inventory.time - last.time).components
    let seconds = Double(parts.seconds) + Double(parts.attoseconds) * 1e-18
    guard seconds > 0 else { return "" }
    return paint(.number, " (\((Double(now) - Double(before)) / seconds, digits: 1)/s)")
  }

  private func state(_ state: Grpc_Channelz_V1_ChannelConnectivityState.State) -> ShownText {
    switch state {
    case .unknown: "UNKNOWN"
    case .idle: "IDLE"
    case .connecting: paint(.warning, "CONNECTING")
    case .ready: paint(.good, "READY")
    case .transientFailure: paint(.bad, "TRANSIENT_FAILURE")
    case .shutdown: "SHUTDOWN"
    case .UNRECOGNIZED(let number): "\(number)"
    }
  }
}
