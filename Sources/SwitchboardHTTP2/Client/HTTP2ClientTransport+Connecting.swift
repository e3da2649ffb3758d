import SwitchboardCall

extension HTTP2ClientTransport {
  /// Opens a connection if calls wait for one and the channel is not connecting already.
  func connectIfNeeded() {
    guard state != .shutdown, dialing == nil, retryTimer == nil, !loop.hasEnded else { return }
    guard connections.count(where: { !$0.isRetired }) < options.maxConnections else { return }
    dial()
  }

  private func dial() {
    var random = SystemRandomNumberGenerator()
    let dialing = Dialing(started: loop.now, backoff: backoff.next(using: &random))
    self.dialing = dialing
    if state != .ready { setState(.connecting) }
    startTimeout(dialing)
    switch target.place {
    case .addresses(let addresses): connect(dialing, addresses)
    case .name(let host, let port):
      dialing.lookup = loop.names.addresses(of: host, port: port) { result in
        switch result {
        case .success(let answer): self.connect(dialing, answer.addresses)
        case .failure(let status): self.dialingFailed(dialing, status)
        }
      }
    }
  }

  /// An attempt may take as long as the delay before the next one, but not less than the configured minimum.
  private func startTimeout(_ dialing: Dialing) {
    if let timeout = dialing.timeout { loop.cancel(timeout) }
    let timeout = LoopTimer {
      // The remaining addresses are tried before the attempt fails.
      if let connection = dialing.connection { return connection.close(.connectTimeout) }
      self.dialingFailed(dialing, .connectTimeout)
    }
    dialing.timeout = timeout
    loop.schedule(timeout, after: max(options.connectMinTimeout, dialing.backoff))
  }

  private func connect(_ dialing: Dialing, _ addresses: [SocketAddress]) {
    guard !dialing.isOver else { return }
    let connector = Connector(addresses, on: loop) { result in
      switch result {
      case .success(let socket): self.adopt(dialing, socket)
      case .failure(let error):
        self.dialingFailed(dialing, error.status("cannot connect to \(self.target.shown)"))
      }
    }
    dialing.connector = connector
    connector.start()
  }

  private func adopt(_ dialing: Dialing, _ socket: Socket) {
    guard !dialing.isOver else { return socket.close() }
    guard let connection = ClientConnection(self, socket: socket) else {
      socket.close()
      return dialingFailed(dialing, .noMemoryForConnection)
    }
    dialing.connection = connection
    connections.append(connection)
    connection.start()
  }

  func connectionBecameReady(_ connection: ClientConnection) {
    finishDialing()
    if uselessInARow == 0 { backoff.reset() }
    lastFailure = nil
    trace.add("connected to \(connection.reference(connection.number).name)")
    setState(.ready)
    connectionHasRoom()
  }

  /// Called when a connection has brought its first response to a call.
  func connectionServed() {
    uselessInARow = 0
    backoff.reset()
  }

  /// Called when a connection accepts no more calls, because of its peer or because it has closed.
  ///
  /// `reason` is set if it is a protocol error, which another connection would meet too.
  func connectionWasRetired(_ connection: ClientConnection, _ reason: GRPCStatus?) {
    guard state != .shutdown else { return }
    let isServed = connections.contains { $0.isReady && !$0.isRetired }
    if !connection.wasOfUse { uselessInARow += 1 }
    if !isServed, dialing == nil { setState(.idle) }
    // A peer that accepts connections only to end them is treated like one that accepts none.
    if !connection.wasOfUse, !isServed, dialing == nil, reason != nil || uselessInARow > 1 {
      var random = SystemRandomNumberGenerator()
      if let reason { fail(reason) }
      scheduleRetry(after: backoff.next(using: &random))
    }
    if hasWaitingCalls { connectIfNeeded() }
  }

  func connectionDidClose(_ connection: ClientConnection, _ reason: GRPCStatus) {
    connections.removeAll { $0 === connection }
    if connection.isReady { trace.add("a connection ended: \(reason)") }
    if let dialing, dialing.connection === connection {
      dialing.connection = nil
      let rest = dialing.connector?.remaining ?? []
      if rest.isEmpty || state == .shutdown {
        dialingFailed(dialing, reason)
      } else {
        startTimeout(dialing)
        connect(dialing, rest)
      }
    }
    resumeIfDrained()
  }

  private func dialingFailed(_ dialing: Dialing, _ status: GRPCStatus) {
    guard !dialing.isOver, state != .shutdown else { return }
    finishDialing()
    trace.add("cannot connect: \(status)", isWarning: true)
    options.observer?.connectionFailed(observed, status)
    // If another connection serves the calls, the failure only delays the next attempt.
    if connections.contains(where: { $0.isReady && !$0.isRetired }) {
      lastFailure = status
    } else {
      fail(status)
    }
    let elapsed = loop.now - min(loop.now, dialing.started)
    let backoff = dialing.backoff.nanoseconds
    scheduleRetry(after: .nanoseconds(Int64(clamping: backoff > elapsed ? backoff - elapsed : 0)))
  }

  private func fail(_ status: GRPCStatus) {
    options.logger.log(.warning, "cannot connect", ["target": target.authority, "reason": "\(status)"])
    lastFailure = status
    setState(.transientFailure)
    failWaiting(status, includingPatient: false)
  }

  private func scheduleRetry(after delay: Duration) {
    guard retryTimer == nil else { return }
    let timer = LoopTimer {
      self.retryTimer = nil
      if self.state == .transientFailure || self.hasWaitingCalls { self.connectIfNeeded() }
    }
    retryTimer = timer
    loop.schedule(timer, after: delay)
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
  static let noMemoryForConnection = GRPCStatus(
    code: .resourceExhausted,
    message: "there is not enough memory for a connection",
    origin: .library
  )
}
