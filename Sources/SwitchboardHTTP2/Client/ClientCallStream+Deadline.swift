import SwitchboardBalancing
import SwitchboardCall

// What a call was waiting for when its deadline passed. Nothing here is kept for that purpose, except the channel's last
// failure to connect: it is read from what the call, its server and the channel are doing.
extension ClientCallStream {
  func deadlinePassed() { endEarly(deadlineStatus) }

  var deadlineStatus: GRPCStatus { request.deadlineExceeded(by: channel.loop.clock, whatWasDone) }

  private var whatWasDone: String {
    switch phase {
    case .idle, .started: "before it could be sent"
    case .waiting: "while waiting for \(subchannel?.whatIsAwaited ?? channel.whatIsAwaited)"
    case .open, .failing, .closed: whatTheStreamDid
    }
  }

  private var whatTheStreamDid: String {
    let server = subchannel?.shown ?? channel.serverName
    let total = inbound.totals.messages
    if let flow, flow.isHolding || !flow.pipe.hasMuchRoom {
      return "while responses waited to be read by the caller"
    }
    if total > 0 {
      return "while waiting for the rest of the response from \(server) (\(total) messages have arrived)"
    }
    if head.isWhole { return "while waiting for the response from \(server) (its headers have arrived)" }
    if state.hasLocalEnded { return "while waiting for the response from \(server)" }
    guard case .stream(let pipe) = request.body, !pipe.hasEnded else {
      return "while sending the request to \(server)"
    }
    if pipe.isReadable { return "while sending requests to \(server)" }
    return "while waiting for the response from \(server) (the requests were not finished either)"
  }
}

extension HTTP2Subchannel {
  /// What a call waits for that was assigned to this server.
  fileprivate var whatIsAwaited: String {
    let serving = connections.filter { $0.isReady && !$0.isRetired }
    guard !serving.isEmpty else { return "a connection to \(shown) (\(progress))" }
    let count = serving.reduce(0) { $0 + $1.openStreams }
    return """
      room on the connection to \(shown) (open calls: \(count), as many as the server or \
      ChannelOptions.maxConcurrentStreams and maxConnections allow)
      """
  }

  /// How far connecting has come, and why it failed the last time.
  fileprivate var progress: String {
    let failure = channel.lastFailure.map { "; last error: \($0.message ?? "\($0.code)")" } ?? ""
    return step + failure
  }

  private var step: String {
    guard let dialing else {
      guard let retryTimer, retryTimer.deadline > loop.now else { return "\(state.connectivity)" }
      return
        "trying again in \(Duration.nanoseconds(Int64(clamping: retryTimer.deadline - loop.now)).readable)"
    }
    if let connection = dialing.connection { return connection.progress }
    if dialing.lookup != nil { return "looking up the name" }
    return dialing.handshake == nil ? "connecting" : "connected to the proxy, waiting for a tunnel"
  }
}

extension ClientConnection {
  fileprivate var progress: String {
    if let tls, !tls.isSecure { return "connected, waiting for the TLS handshake" }
    return "connected, waiting for the server's HTTP/2 settings"
  }
}

extension HTTP2ClientTransport {
  /// What a call waits for that was not assigned to a server.
  fileprivate var whatIsAwaited: String {
    guard !balancer.isResolving else {
      let failure = lastFailure.map { " (last error: \($0.message ?? "\($0.code)"))" } ?? ""
      return "the name \(serverName) to be resolved\(failure)"
    }
    guard let server = subchannels.first?.value else { return "a server of \(host) (none is known)" }
    if subchannels.count == 1 { return "a connection to \(server.shown) (\(server.progress))" }
    return
      "a connection to one of the \(subchannels.count) servers of \(serverName) (of one: \(server.progress))"
  }
}
