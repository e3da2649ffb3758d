import SwitchboardCall

/// A client's connection, as the server holds it.
final class ServerConnection: Connection {
  // Unchecked exclusivity: confined to the loop.
  let options: ServerOptions
  let router: Router
  @exclusivity(unchecked) private(set) var peer: PeerIdentity
  private let core: ServerCore
  @exclusivity(unchecked) private var isDraining = false

  init?(_ core: ServerCore, loop: Loop, socket: Socket, peer: SocketAddress?) {
    options = core.options
    router = core.router
    self.core = core
    self.peer = PeerIdentity(address: peer?.description ?? "unknown")
    guard let session = Session(.server, settings: core.sessionSettings) else { return nil }
    var tls: TLSFilter?
    if let context = core.tlsContext {
      tls = TLSFilter(context)
      guard tls != nil else { return nil }
    }
    super.init(loop: loop, socket: socket, session: session, tls: tls)
    startHandshakeTimer()
  }

  @exclusivity(unchecked) private var handshakeTimer: LoopTimer?

  private func startHandshakeTimer() {
    let timer = LoopTimer { self.close(.handshakeTimeout) }
    handshakeTimer = timer
    loop.schedule(timer, after: options.handshakeTimeout)
  }

  private func stopHandshakeTimer() {
    if let handshakeTimer { loop.cancel(handshakeTimer) }
    handshakeTimer = nil
  }

  override func didBecomeSecure() {
    guard let certificate = tls?.peerCertificate else { return }
    peer.certificateSubject = certificate.subject
    peer.certificateNames = certificate.names
  }

  /// The client's first settings end its handshake.
  override func sessionDidReceiveSettings() { stopHandshakeTimer() }

  override func sessionDidOpenStream(_ id: Int32) -> SessionStream? {
    loop.activeCalls += 1
    return ServerCallStream(self)
  }

  func streamDidClose(_ stream: ServerCallStream) {
    loop.activeCalls -= 1
    if isDraining { closeIfDrained() }
  }

  override func didClose(_ reason: GRPCStatus) {
    stopHandshakeTimer()
    core.connectionDidClose(self)
  }

  /// Takes no new calls, and closes once those under way have ended.
  func drain() {
    guard !isDraining, !isClosed else { return }
    isDraining = true
    // Two steps, so that no call is lost that the client opened before it knew: first a notice, then,
    // a round trip later, the number of the last stream that was taken.
    session.announceGoAway()
    session.ping(Self.drainPing)
    setNeedsFlush()
  }

  private static let drainPing: UInt64 = 0x7377_6974_6368_6264
  @exclusivity(unchecked) private var sentGoAway = false

  override func sessionDidReceivePing(isAck: Bool, payload: UInt64) {
    guard isAck, payload == Self.drainPing, isDraining, !sentGoAway else { return }
    sentGoAway = true
    session.goAway(.noError)
    closeIfDrained()
  }

  private func closeIfDrained() {
    guard sentGoAway, session.streams.count == 0 else { return }
    // From inside a callback the session can only be told to end; the flush closes the socket.
    session.terminate(.noError)
    setNeedsFlush()
  }
}

extension GRPCStatus {
  static let handshakeTimeout = GRPCStatus(
    code: .unavailable,
    message: "the handshake took too long",
    origin: .peer
  )
}
