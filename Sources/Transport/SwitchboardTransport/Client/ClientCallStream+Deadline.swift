import SwitchboardBalancing
import SwitchboardCall

// What a call was waiting for when its deadline passed. Nothing here is kept for that purpose, except the channel's last
// failure to connect: it is read from what the call, its server and the channel are doing.
extension ClientCallStream {
  func deadlinePassed() { endEarly(deadlineStatus) }

  var deadlineStatus: GRPCStatus { request.deadlineExceeded(by: channel.loop.clock, whatWasDone) }

  /// Whether not even the headers were passed to the stream's connection, which has no room for them.
  var isUnsent: Bool { connection.map { id > $0.withClientSession { $0.lastRequestSent } ?? 0 } ?? false }

  private var whatWasDone: String {
    switch phase {
    case .idle, .started: "before it could be sent"
    case .waiting: "while waiting for \(server.subchannel?.whatIsAwaited ?? channel.whatIsAwaited)"
    case .open, .failing, .closed: whatTheStreamDid
    }
  }

  private var whatTheStreamDid: String {
    let server = self.server.subchannel?.shown ?? channel.destination.serverName
    let total = inbound.totals.messages
    if isUnsent {
      return "while waiting for room on the connection to \(server) (the request was not sent yet)"
    }
    if let flow, flow.isHolding || !flow.pipe.hasMuchRoom {
      return "while responses waited to be read by the caller"
    }
    let arrived =
      total > 0 ? "\(total) messages have arrived" : response.head.isWhole ? "its headers have arrived" : nil
    let unfinished = isAwaitingRequests ? "the requests were not finished either" : nil
    let notes = [arrived, unfinished].compactMap(\.self)
    guard state.hasLocalEnded || !notes.isEmpty else { return "while sending the request to \(server)" }
    let missing = total > 0 ? "the rest of the response" : "the response"
    let details = notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
    return "while waiting for \(missing) from \(server)\(details)"
  }

  /// Whether all requests that there are have been sent, and the caller has not finished them.
  private var isAwaitingRequests: Bool {
    guard case .stream(let pipe) = request.body else { return false }
    return !pipe.hasEnded && !pipe.isReadable
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
      return "the name \(destination.serverName) to be resolved\(failure)"
    }
    guard let server = subchannels.first?.value else { return "a server of \(host) (none is known)" }
    if subchannels.count == 1 { return "a connection to \(server.shown) (\(server.progress))" }
    return
      "a connection to one of the \(subchannels.count) servers of \(destination.serverName) (of one: \(server.progress))"
  }
}
