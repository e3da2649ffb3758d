import SwitchboardCall

/// An attempt to connect: finding addresses, then a socket, then the peer's settings.
final class Dialing {
  var connector: Connector?
  var connection: ClientConnection?
  var timeout: LoopTimer?
  var isOver = false
}

extension ClientChannel {
  /// Opens a connection when calls wait for one and none is on its way.
  func connectIfNeeded() {
    guard state != .shutdown, dialing == nil, retryTimer == nil else { return }
    guard connections.count(where: { !$0.isRetired }) < options.maxConnections else { return }
    dial()
  }

  private func dial() {
    let dialing = Dialing()
    self.dialing = dialing
    if state != .ready { setState(.connecting) }
    let timeout = LoopTimer { self.dialingFailed(dialing, .connectTimeout) }
    dialing.timeout = timeout
    loop.schedule(timeout, after: options.minimumConnectTimeout)
    switch target.place {
    case .addresses(let addresses): connect(dialing, addresses)
    case .name(let host, let port):
      Resolver.resolve(host, port: port, on: loop) { result in
        switch result {
        case .success(let addresses): self.connect(dialing, addresses)
        case .failure(let error): self.dialingFailed(dialing, error.status("\(host) was not found"))
        }
      }
    }
  }

  private func connect(_ dialing: Dialing, _ addresses: [SocketAddress]) {
    guard !dialing.isOver else { return }
    let connector = Connector(addresses, on: loop) { result in
      switch result {
      case .success(let socket): self.adopt(dialing, socket)
      case .failure(let error):
        self.dialingFailed(dialing, error.status("cannot connect to \(self.target.authority)"))
      }
    }
    dialing.connector = connector
    connector.start()
  }

  private func adopt(_ dialing: Dialing, _ socket: Socket) {
    guard !dialing.isOver, let connection = ClientConnection(self, socket: socket) else {
      return socket.close()
    }
    dialing.connection = connection
    connections.append(connection)
    connection.start()
  }

  func connectionBecameReady(_ connection: ClientConnection) {
    finishDialing()
    backoff.reset()
    lastFailure = nil
    setState(.ready)
    connectionHasRoom()
  }

  func connectionWasRetired(_ connection: ClientConnection) {
    if !connections.contains(where: { $0.isReady && !$0.isRetired }), dialing == nil { setState(.idle) }
    if hasWaitingCalls { connectIfNeeded() }
  }

  func connectionDidClose(_ connection: ClientConnection, _ reason: GRPCStatus) {
    connections.removeAll { $0 === connection }
    if let dialing, dialing.connection === connection {
      dialing.connection = nil
      dialingFailed(dialing, reason)
    } else {
      connectionWasRetired(connection)
    }
    resumeIfDrained()
  }

  private func dialingFailed(_ dialing: Dialing, _ status: GRPCStatus) {
    guard !dialing.isOver, state != .shutdown else { return }
    let connection = dialing.connection
    dialing.connection = nil
    finishDialing()
    connection?.close(status)
    lastFailure = status
    // Another connection may still serve the calls; the failure then only delays the next attempt.
    let isServed = connections.contains { $0.isReady && !$0.isRetired }
    if !isServed {
      setState(.transientFailure)
      failWaiting(status, includingPatient: false)
    }
    scheduleRetry()
  }

  private func scheduleRetry() {
    var random = SystemRandomNumberGenerator()
    let timer = LoopTimer {
      self.retryTimer = nil
      if self.state == .transientFailure || self.hasWaitingCalls { self.connectIfNeeded() }
    }
    retryTimer = timer
    loop.schedule(timer, after: backoff.next(using: &random))
  }

  private func finishDialing() {
    guard let dialing else { return }
    dialing.isOver = true
    dialing.connector?.cancel()
    if let timeout = dialing.timeout { loop.cancel(timeout) }
    dialing.timeout = nil
    self.dialing = nil
  }

  func cancelDialing() {
    let connection = dialing?.connection
    finishDialing()
    connection?.close(.channelShutDown)
    if let retryTimer { loop.cancel(retryTimer) }
    retryTimer = nil
  }
}

extension GRPCStatus {
  static let connectTimeout = GRPCStatus(
    code: .unavailable,
    message: "connecting took too long",
    origin: .library
  )
}
