// unsafe: state confined to the channel's loop; lends bytes that a proxy has left to a connection

import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork

extension HTTP2Subchannel {
  /// Opens a connection if calls wait for one.
  func connectIfNeeded() {
    guard !isShutDown, dialing == nil, retryTimer == nil, !loop.hasEnded else { return }
    let limit = connections.compactMap(\.connectionLimit).max() ?? channel.options.maxConnections
    guard connections.count(where: { !$0.isRetired }) < limit else { return }
    dial()
  }

  func startDialing(_ legs: [ProxyRoute.Leg] = []) -> Dialing {
    var random = SystemRandomNumberGenerator()
    let dialing = Dialing(started: loop.now, backoff: backoff.next(using: &random), legs: legs)
    self.dialing = dialing
    return dialing
  }

  func dial() {
    let route = Result { () throws(GRPCStatus) in
      try ProxyRoute(to: addresses, channel.destination.proxy, channel.destination.proxies)
    }
    let dialing = startDialing((try? route.get())?.legs ?? [])
    if servingConnection == nil { setState(.connecting) }
    // The policy may have shut the subchannel down.
    guard !dialing.isOver else { return }
    if case .failure(let status) = route { return dialingFailed(dialing, status) }
    startNextLeg(dialing, after: SocketError.noAddress.status("cannot connect to \(shown)"))
  }

  /// The attempt fails with `failure` if no leg is left.
  private func startNextLeg(_ dialing: Dialing, after failure: GRPCStatus) {
    guard let leg = dialing.nextLeg() else { return dialingFailed(dialing, failure) }
    startTimeout(dialing)
    switch leg.destination {
    case .addresses(let addresses): connect(dialing, addresses)
    case .name(let host, let port):
      dialing.lookup = loop.names.addresses(of: host, port: port) { result in
        guard !dialing.isOver else { return }
        dialing.lookup = nil
        switch result {
        case .success(let answer): self.connect(dialing, answer.addresses)
        case .failure(let status):
          self.legFailed(dialing, leg.tunnel.map { .proxyNotFound($0.proxy, status) } ?? status)
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
      if let handshake = dialing.handshake { return handshake.timeOut() }
      self.startNextLeg(dialing, after: .connectTimeout)
    }
    dialing.timeout = timeout
    loop.schedule(timeout, after: max(channel.options.connectMinTimeout, dialing.backoff))
  }

  private func connect(_ dialing: Dialing, _ addresses: [SocketAddress]) {
    guard !dialing.isOver else { return }
    channel.options.onConnectionPhase?(.lookedUp(addresses: addresses.map(\.description)))
    let connector = Connector(addresses, on: loop) { result in
      switch result {
      case .success(let connected):
        self.channel.options.onConnectionPhase?(.connected(address: connected.address.description))
        self.pass(dialing, connected)
      case .failure(let error):
        self.legFailed(dialing, self.status(of: error, dialing))
      }
    }
    dialing.connector = connector
    connector.start()
  }

  private func status(of error: SocketError, _ dialing: Dialing) -> GRPCStatus {
    if let proxy = dialing.leg?.tunnel?.proxy.shown { return error.status("cannot connect to \(proxy)") }
    let status = error.status("cannot connect to \(shown)")
    guard let hint = channel.destination.portHint, let message = status.message else { return status }
    return GRPCStatus(code: status.code, message: "\(message) (\(hint))", origin: status.origin)
  }

  /// Requests a tunnel if the socket is connected to a proxy.
  private func pass(_ dialing: Dialing, _ connected: Connector.Connected) {
    guard !dialing.isOver, let leg = dialing.leg, let tunnel = leg.tunnel else {
      return adopt(dialing, connected.socket, server(dialing, at: connected.address))
    }
    let handshake = ProxyHandshake(connected.socket, tunnel) { result in
      dialing.handshake = nil
      switch result {
      case .success(let (socket, unread)): self.adopt(dialing, socket, leg.server, unread)
      case .failure(let status): self.legFailed(dialing, status)
      }
    }
    dialing.handshake = handshake
    handshake.start()
  }

  /// The one of the addresses that a socket is connected to without a proxy.
  private func server(_ dialing: Dialing, at address: SocketAddress) -> EndpointAddress? {
    dialing.leg?.server ?? addresses.first { SocketAddress($0) == address }
  }

  /// `unread` are bytes that the server has already sent.
  func adopt(_ dialing: Dialing, _ socket: Socket, _ address: EndpointAddress?, _ unread: [UInt8] = []) {
    guard !dialing.isOver else { return socket.close() }
    let context: TLSContext?
    var name: ServerName?
    do throws(GRPCStatus) {
      context = try security?.current()
      if context != nil, let own = address?.tlsName { name = try ServerName(sent: own) }
    } catch {
      socket.close()
      // Whatever is wrong with the certificates or the name, others may come.
      let status = GRPCStatus(code: .unavailable, message: error.message, origin: .library)
      return dialingFailed(dialing, status)
    }
    guard let connection = ClientConnection(self, context, name, socket: socket, address: address) else {
      socket.close()
      return dialingFailed(dialing, .noMemoryForConnection)
    }
    dialing.connection = connection
    connections.append(connection)
    connection.start()
    if !unread.isEmpty { unread.withUnsafeBytes { connection.socketDidRead($0) } }
  }

  /// Tries the other addresses, then the other legs.
  private func legFailed(_ dialing: Dialing, _ status: GRPCStatus) {
    guard !dialing.isOver, !isShutDown else { return dialingFailed(dialing, status) }
    let rest = dialing.connector?.remaining ?? []
    guard rest.isEmpty else {
      startTimeout(dialing)
      return connect(dialing, rest)
    }
    startNextLeg(dialing, after: status)
  }

  func connectionBecameReady(_ connection: ClientConnection) {
    finishDialing()
    channel.lastFailure = nil
    if uselessInARow == 0 { backoff.reset() }
    channel.trace.add("connected to \(connection.reference(connection.number).name)")
    if healthWatch != nil { return connectionHasRoom() }
    watchLoad(on: connection)
    if let service = healthCheckedService {
      watchHealth(of: service, on: connection)
    } else {
      setState(.ready)
    }
    connectionHasRoom()
  }

  /// Called when the first response to a call has arrived on a connection.
  func connectionServed() {
    uselessInARow = 0
    backoff.reset()
  }

  /// Called when a connection accepts no more calls, because of its peer or because it has closed.
  ///
  /// `reason` is set if it is a protocol error, which another connection would meet too.
  func connectionWasRetired(_ connection: ClientConnection, _ reason: GRPCStatus?) {
    stopWatches(of: connection)
    guard !isShutDown else { return }
    let isServed = servingConnection != nil
    if !connection.wasUseful { uselessInARow += 1 }
    if isServed {
      moveWatches()
    } else if dialing != nil {
      // Calls need not wait for it where there are other servers.
      setState(.connecting)
    } else {
      // A peer that accepts connections only to end them is treated like one that accepts none.
      if !connection.wasUseful, reason != nil || uselessInARow > 1 {
        var random = SystemRandomNumberGenerator()
        scheduleRetry(after: backoff.next(using: &random))
        // Calls wait for the next attempt, unless it would end in the same way.
        if let reason { fail(reason) } else { setState(.connecting) }
      } else {
        setState(.idle)
      }
    }
    if !waiting.isEmpty { connectIfNeeded() }
  }

  func connectionDidClose(_ connection: ClientConnection, _ reason: GRPCStatus) {
    connections.removeAll { $0 === connection }
    if connection.isReady { channel.trace.add("a connection ended: \(reason)") }
    if let dialing, dialing.connection === connection {
      dialing.connection = nil
      legFailed(dialing, reason)
    }
    if isShutDown, connections.isEmpty { channel.subchannelDidEnd(self) }
  }

  private func dialingFailed(_ dialing: Dialing, _ status: GRPCStatus) {
    guard !dialing.isOver else { return }
    finishDialing()
    guard !isShutDown else { return }
    channel.lastFailure = status
    channel.trace.add("cannot connect: \(status)", isWarning: true)
    channel.options.observer?.connectionFailed(observed, status)
    let elapsed = loop.now - min(loop.now, dialing.started)
    let backoff = dialing.backoff.nanoseconds
    scheduleRetry(after: .nanoseconds(Int64(clamping: backoff > elapsed ? backoff - elapsed : 0)))
    // If another connection serves the calls, the failure only delays the next attempt.
    if servingConnection == nil { fail(status) }
  }

  private func fail(_ status: GRPCStatus) {
    channel.options.logger.log(.warning, "cannot connect", ["target": shown, "reason": "\(status)"])
    setState(.transientFailure, status)
  }

  private func scheduleRetry(after delay: Duration) {
    guard retryTimer == nil else { return }
    let timer = LoopTimer {
      self.retryTimer = nil
      let isServed = self.servingConnection != nil || self.dialing != nil
      if !isServed, self.state.connectivity != .idle { self.setState(.idle) }
      if !self.waiting.isEmpty { self.connectIfNeeded() }
    }
    retryTimer = timer
    loop.schedule(timer, after: delay)
  }

  func stopRetryTimer() {
    if let retryTimer { loop.cancel(retryTimer) }
    retryTimer = nil
  }

  func finishDialing() {
    guard let dialing else { return }
    dialing.end()
    if let timeout = dialing.timeout { loop.cancel(timeout) }
    dialing.timeout = nil
    self.dialing = nil
  }

  func cancelDialing() {
    let connection = dialing?.connection
    finishDialing()
    connection?.close(.channelShutDown)
    stopRetryTimer()
  }
}

extension GRPCStatus {
  fileprivate static func proxyNotFound(_ proxy: ProxyServer, _ status: GRPCStatus) -> GRPCStatus {
    GRPCStatus(
      code: status.code,
      message: "\(proxy.shown) was not found: \(status.message ?? "\(status.code)")",
      origin: .library
    )
  }

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
