// unsafe: state confined to the connection's loop
// state: what a connection counts and limits, beside what it serves

import SwitchboardCall
import SwitchboardNetwork

/// A connection of a server, to one of its clients.
final class ServerConnection: ConnectionParts, Connection {
  // Unchecked exclusivity: confined to the loop. The state that all connections of the server share. The options are
  // read from it, because a copy would take half a kilobyte.
  let core: ServerCore
  let router: Router
  /// Whether there is an observer. Each call checks this, and reading the observer itself would copy it.
  let isObserved: Bool
  /// The tracer of the calls, if the observer traces.
  let tracer: (any ServerTracer)?
  /// Whether it gives calls a context, and so wants the header `traceparent` apart from the others.
  let givesContext: Bool
  // Options that each call reads: to read them from `core` would retain it.
  let metadataLimit: Int
  let requestLimit: Int
  private let handlerLimit: Int
  /// The rules for web pages; `nil` without web options.
  let crossOrigin: CrossOrigin?
  let hosts: HostNames?
  /// The connection's number among the server's listeners and connections.
  let number: Int
  /// The clients with the address of this one.
  let clients: AbandonedHandlers.Clients
  @exclusivity(unchecked) private(set) var peer: PeerIdentity
  @exclusivity(unchecked) private(set) var http1: HTTP1Session<ServerConnection>?
  @exclusivity(unchecked) private var isDraining = false
  /// Whether all handshakes are over.
  @exclusivity(unchecked) private var isOpen = false
  @exclusivity(unchecked) var timers = Timers()
  @exclusivity(unchecked) var keepalive: Keepalive
  @exclusivity(unchecked) private(set) var lastCallEnd: UInt64
  @exclusivity(unchecked) var knownCall: KnownCall?
  @exclusivity(unchecked) private var pings: PingPolicy
  @exclusivity(unchecked) var gathered: GatheredRequests
  @exclusivity(unchecked) var unread: UnreadResponses

  init?(_ core: ServerCore, loop: Loop, socket: Socket, peer address: SocketAddress?) {
    self.core = core
    router = core.router
    isObserved = core.options.observer != nil
    let peer = PeerIdentity(address: address?.description ?? "unknown")
    let tracer = core.telemetry?.serverTracer(on: loop, peer: peer.address)
    self.tracer = tracer
    givesContext = tracer?.givesContext ?? false
    metadataLimit = core.options.maxMetadataSize
    requestLimit = core.options.maxRequestSize
    handlerLimit = core.options.maxConcurrentStreams * 2
    crossOrigin = core.crossOrigin
    hosts = core.options.hosts
    number = core.nextNumber()
    self.peer = peer
    keepalive = Keepalive(interval: core.options.keepaliveInterval, timeout: core.options.keepaliveTimeout)
    pings = PingPolicy(minimumInterval: core.options.minimumPingInterval)
    gathered = GatheredRequests(bufferSize: core.options.connectionBufferSize)
    unread = UnreadResponses(
      bufferSize: core.options.connectionBufferSize,
      streamBufferSize: core.options.streamBufferSize
    )
    lastCallEnd = loop.now
    var tls: TLSFilter?
    if let contexts = core.tlsContexts {
      guard let context = try? contexts.current() else { return nil }
      tls = TLSFilter(context, arenas: loop.blocks.arenasOfTLS)
      guard tls != nil else { return nil }
    }
    clients = core.abandoned.join(at: address)
    super.init(
      loop: loop,
      socket: socket,
      tls: tls,
      unreadLimit: core.options.connectionBufferSize,
      frameAllowance: core.options.controlFrameAllowance
    )
    socket.setUserTimeout(core.options.keepaliveTimeout)
    startLimits()
  }

  deinit { clients.leave() }

  var isLowLatency: Bool { core.options.lowLatency }

  func didBecomeSecure() {
    peer.certificate = tls?.peerCertificate
    // Otherwise the client's first bytes decide.
    if let version = core.allowsHTTP1 ? tls?.version : .http2 { speak(version) }
  }

  func speak(_ version: SpokenVersion) {
    switch version {
    case .http2:
      speakHTTP2(as: .server, core.sessionSettings)
      http2?.shortcuts?.takesTraceParents = givesContext
      if isDraining { http2?.startDraining() }
    case .http1:
      socket.probe(after: Self.probeInterval)
      let session = HTTP1Session(
        self,
        headLimit: core.options.maxMetadataSize,
        idleTimeout: core.options.web?.idleTimeout ?? Self.idleTimeout
      )
      http1 = session
      session.join(loop.sweep)
    }
  }

  func mismatch(_ protocol: PeerProtocol) -> GRPCStatus? {
    switch (`protocol`, tls == nil) {
    case (.tls, true):
      // A port for gRPC alone has already sent its settings, which show the client that it does not use TLS. A port
      // that waits for the client's first bytes answers now.
      if core.allowsHTTP1 { answer(Self.badRequest) }
      return .clientSpeaksTLS
    case (.http1, true): return core.allowsHTTP1 ? nil : .clientSpeaksHTTP1
    case (.http1, false): return .clientSpeaksNoTLS
    case (.http2, false):
      answer(PlainGoAway.bytes(.inadequateSecurity, "this port requires TLS"))
      return .clientSpeaksNoTLS
    default: return nil
    }
  }

  /// Sends bytes to a client that gets no session.
  private func answer(_ bytes: [UInt8]) {
    let output = loop.takeOutput()
    bytes.withUnsafeBytes { output.append($0) }
    socket.write(output)
  }

  /// The answer to a TLS client, which shows that this server does not use TLS.
  private static let badRequest = Array(
    "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".utf8
  )

  /// How long a client of HTTP/1.1 may be silent before the system probes the connection. Such a client cannot be
  /// pinged.
  private static let probeInterval = Duration.seconds(60)
  /// How long a connection of HTTP/1.1 stays open without a request, unless `WebOptions` says otherwise.
  private static let idleTimeout = Duration.seconds(75)

  /// The client's first settings end its handshake.
  func sessionDidReceiveSettings() { didOpen() }

  /// Called when the client has shown that it speaks HTTP/2 or HTTP/1.1.
  func didOpen() {
    stopHandshakeTimer()
    guard !isOpen else { return }
    isOpen = true
    core.options.observer?.connectionOpened(observed)
    core.options.logger.log(.debug, "connection opened", ["peer": peer.address])
  }

  private var observed: ObservedConnection {
    ObservedConnection(peer: peer.address, isSecure: tls != nil, isServer: true)
  }

  func report(_ abuse: PeerAbuse) {
    counters.peerAbused(abuse)
    core.options.observer?.peerAbused(abuse, observed)
    core.options.logger.log(.info, "a client misbehaves", ["peer": peer.address, "how": abuse.rawValue])
  }

  var headersTimeout: Duration { core.options.handshakeTimeout }

  func sessionDidOpenStream(_ id: Int32) -> (any SessionStream)? {
    counters.streamStarted(at: loop.turnTime)
    let isOverrun = hasTooManyHandlers
    if isOverrun {
      report(.tooManyHandlers)
      http2?.reset(id, .refusedStream)
    }
    return ServerCallStream(self, isRefused: isOverrun)
  }

  /// The number of handlers that have not returned.
  @exclusivity(unchecked) var runningHandlers = 0

  /// Whether so many handlers run that no call may start another. If a client resets its streams, or their deadlines
  /// pass, they are no longer open, but their handlers run until they notice. It may have twice as many handlers as
  /// open streams.
  var hasTooManyHandlers: Bool {
    if clients.haveTooMany {
      clients.report(of: router.methods, to: core.log.refusedCalls, on: loop)
      return true
    }
    return runningHandlers >= handlerLimit
  }

  func streamDidClose(_ stream: ServerCallStream) {
    lastCallEnd = lastRead
  }

  /// Called when something was sent or received for a call.
  func sawTraffic() { pings.sawTraffic() }

  /// `didClose` does everything. Only a client's calls may move to another connection, which it has to choose before.
  func willClose(_ reason: GRPCStatus) {}

  /// A server has no better explanation.
  func explanation(of reason: GRPCStatus) -> GRPCStatus { reason }

  func didClose(_ reason: GRPCStatus) {
    stopLimits()
    if isOpen {
      core.options.observer?.connectionClosed(observed, reason)
      core.options.logger.log(.debug, "connection closed", details(of: reason))
    } else {
      // The handshake failed, or the peer was not a client of this server.
      core.options.observer?.connectionFailed(observed, reason)
      core.log.failedConnections.log(details(of: reason), on: loop)
    }
    core.connectionDidClose(self)
  }

  private func details(of reason: GRPCStatus) -> LimitedLog.Details {
    ["peer": peer.address, "reason": "\(reason)"]
  }

  // MARK: Draining

  /// Accepts no new calls, and closes when those in progress have ended.
  func drain() {
    guard !isDraining, !isClosed else { return }
    isDraining = true
    // A client that speaks nothing yet may never do. Only a handshake of HTTP/2 goes on, and then ends as announced.
    guard isDecided || !core.allowsHTTP1 else { return close(.serverStopped) }
    withServerSession { $0.startDraining() }
    setNeedsFlush()
  }

  var callsInProgress: [ServerCallStream] {
    var calls: [ServerCallStream] = []
    func collect(_ entry: StreamEntry) {
      if let stream = entry as? ServerCallStream, stream.head.page == nil { calls.append(stream) }
    }
    parts.streams.forEach(collect)
    return calls
  }

  /// Closes the connection at the end of the grace, and tells the client of each call in progress why it ends.
  func cutOff() {
    flush()
    guard !isClosed else { return }
    let cut = callsInProgress
    core.cutOff.add(cut.compactMap { $0.head.method?.descriptor.path })
    for stream in cut where !isClosed { stream.endUnsent(.graceIsOver) }
    flush()
    // What the client has not read by then is not sent.
    close(.serverStopped, gently: true)
  }

  func peerDidEnd() -> Bool { withServerSession { $0.peerDidEnd() } ?? false }

  /// Does nothing: a client accepts no calls, so its GOAWAY changes nothing for the server.
  func sessionDidReceiveGoAway(_ goAway: GoAway) {}

  func sessionDidReceivePing() {
    guard !pings.allowsPing(at: loop.now) else { return }
    announceClose(Offense(abuse: .pingFlood, code: .enhanceYourCalm), "too_many_pings")
  }
}
