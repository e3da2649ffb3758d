import SwitchboardCall

/// A client's connection, as the server holds it.
final class ServerConnection: Connection {
  // Unchecked exclusivity: confined to the loop.
  let options: ServerOptions
  let router: Router
  /// Whether there is an observer: every call asks, and a look at the observer itself copies it.
  let isObserved: Bool
  /// What pages may do; `nil` where gRPC-Web is not served.
  let crossOrigin: CrossOrigin?
  private let core: ServerCore
  /// Among the server's listeners and connections.
  let number: Int
  @exclusivity(unchecked) private(set) var peer: PeerIdentity
  @exclusivity(unchecked) private var draining = Draining.no
  /// The handshakes are over.
  @exclusivity(unchecked) private var isOpen = false
  @exclusivity(unchecked) var timers = Timers()
  @exclusivity(unchecked) var keepalive: Keepalive
  @exclusivity(unchecked) private(set) var lastCallEnd: UInt64
  @exclusivity(unchecked) private var pings: PingPolicy

  /// ```
  ///   no ──drain──> announced ──ping answered──> final ──no stream open──> closed
  /// ```
  private enum Draining {
    case no, announced, final
  }

  private static let drainPing: UInt64 = 0x7377_6974_6368_6264

  init?(_ core: ServerCore, loop: Loop, socket: Socket, peer: SocketAddress?) {
    options = core.options
    router = core.router
    isObserved = core.options.observer != nil
    crossOrigin = core.crossOrigin
    self.core = core
    number = core.nextNumber()
    self.peer = PeerIdentity(address: peer?.description ?? "unknown")
    keepalive = Keepalive(interval: options.keepaliveInterval, timeout: options.keepaliveTimeout)
    pings = PingPolicy(minimumInterval: options.minimumPingInterval)
    lastCallEnd = loop.now
    let settings = core.sessionSettings
    guard let session = Session(.server, settings: settings, memory: loop.blocks) else { return nil }
    var tls: TLSFilter?
    if let context = core.tlsContext {
      tls = TLSFilter(context)
      guard tls != nil else { return nil }
    }
    super.init(loop: loop, socket: socket, session: session, settings: settings, tls: tls)
    awaitsGreeting = crossOrigin != nil
    startLimits()
  }

  override var isLowLatency: Bool { options.lowLatency }

  override func didBecomeSecure() {
    peer.certificate = tls?.peerCertificate
  }

  override func mismatch(_ protocol: PeerProtocol) -> GRPCStatus? {
    switch (`protocol`, tls == nil) {
    case (.tls, true): return .clientSpeaksTLS
    case (.http1, true): return crossOrigin == nil ? .peerSpeaksHTTP1 : nil
    case (.http1, false): return .clientSpeaksNoTLS
    case (.http2, false):
      let answer = loop.takeOutput()
      PlainGoAway.bytes(.inadequateSecurity, "this port requires TLS").withUnsafeBytes { answer.append($0) }
      socket.write(answer)
      return .clientSpeaksNoTLS
    default: return nil
    }
  }

  override func peerSpeaksHTTP1() -> HTTP1Session? {
    guard let crossOrigin else { return nil }
    socket.probe(after: Self.probeInterval)
    return HTTP1Session(self, idleTimeout: crossOrigin.options.idleTimeout)
  }

  /// How long a client of HTTP/1.1, which cannot be pinged, may be silent before the system asks for a sign of life.
  private static let probeInterval = Duration.seconds(60)

  /// The client's first settings end its handshake.
  override func sessionDidReceiveSettings() { didOpen() }

  /// The client has shown that it speaks a protocol of ours.
  func didOpen() {
    stopHandshakeTimer()
    guard !isOpen else { return }
    isOpen = true
    options.observer?.connectionOpened(observed)
    options.logger.log(.debug, "connection opened", ["peer": peer.address])
  }

  private var observed: ObservedConnection {
    ObservedConnection(peer: peer.address, isSecure: tls != nil, isServer: true)
  }

  override func report(_ abuse: PeerAbuse) {
    options.observer?.peerAbused(abuse, observed)
    options.logger.log(.info, "a client misbehaves", ["peer": peer.address, "how": abuse.rawValue])
  }

  override var headersTimeout: Duration { options.handshakeTimeout }

  /// Room for the answers to all streams, several times over.
  override var unsentFrameLimit: Int { 1000 + 4 * options.maxConcurrentStreams }

  override func sessionDidOpenStream(_ id: Int32) -> SessionStream? {
    counters.streamStarted(at: loop.turnTime)
    let isOverrun = runningHandlers >= options.maxConcurrentStreams * 2
    if isOverrun {
      report(.tooManyHandlers)
      session.reset(id, .refusedStream)
    }
    return ServerCallStream(self, isRefused: isOverrun)
  }

  /// Handlers that have not returned. A client that resets what it opens has no open streams, but its
  /// handlers run on until they notice: it gets no more of them than twice what it may have open.
  @exclusivity(unchecked) var runningHandlers = 0

  func streamDidClose(_ stream: ServerCallStream) {
    lastCallEnd = lastRead
    closeIfDrained()
  }

  /// Something was sent or received for a call.
  func sawTraffic() { pings.sawTraffic() }

  override func didClose(_ reason: GRPCStatus) {
    stopLimits()
    http1?.connectionDidClose()
    if isOpen {
      options.observer?.connectionClosed(observed, reason)
    } else {
      options.observer?.connectionFailed(observed, reason)
    }
    // One that never opened had a failed handshake, or was no client of ours.
    options.logger.log(
      isOpen ? .debug : .warning,
      "connection closed",
      ["peer": peer.address, "reason": "\(reason)"]
    )
    core.connectionDidClose(self)
  }

  // MARK: Draining

  /// Takes no new calls, and closes once those under way have ended.
  func drain() {
    guard draining == .no, !isClosed else { return }
    draining = .announced
    if awaitsGreeting { return close(.serverStopped) }
    if let http1 { return http1.drainConnection() }
    // Two steps, so that no call is lost that the client opened before it knew: first a notice, then,
    // a round trip later, the number of the last stream that was taken.
    session.announceGoAway()
    // The notice leaves first: a ping in the same flush would overtake it.
    flush()
    guard !isClosed else { return }
    session.ping(Self.drainPing)
    setNeedsFlush()
  }

  override func sessionDidReceivePing(isAck: Bool, payload: UInt64) {
    guard isAck else { return policePing() }
    if takeMeasuringPing(payload) { return }
    guard payload == Self.drainPing, draining == .announced else { return }
    draining = .final
    session.goAway(.noError)
    closeIfDrained()
  }

  private func policePing() {
    guard !pings.allowsPing(at: loop.now) else { return }
    sayFarewell(Session.Offence(abuse: .pingFlood, code: .enhanceYourCalm), "too_many_pings")
  }

  private func closeIfDrained() {
    guard draining == .final, session.streams.count == 0 else { return }
    // From inside a callback the session can only be told to end; the flush closes the socket.
    session.terminate(.noError)
    setNeedsFlush()
  }
}
