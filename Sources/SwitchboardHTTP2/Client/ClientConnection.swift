@_spi(Transport) import SwitchboardCall

/// One of a channel's connections.
final class ClientConnection: Connection {
  // Unchecked exclusivity: confined to the loop.
  private let channel: ClientChannel
  @exclusivity(unchecked) private(set) var isReady = false
  /// No new call may be opened here: the peer says so, or the channel does.
  @exclusivity(unchecked) private(set) var isRetired = false

  @exclusivity(unchecked) private var keepalive: Keepalive?
  @exclusivity(unchecked) private var keepaliveTimer: LoopTimer?

  init?(_ channel: ClientChannel, socket: Socket) {
    self.channel = channel
    keepalive = channel.options.keepaliveInterval.map {
      Keepalive(interval: $0, timeout: channel.options.keepaliveTimeout)
    }
    var tls: TLSFilter?
    if let context = channel.tlsContext {
      tls = TLSFilter(context)
      guard tls != nil else { return nil }
    }
    guard let session = Session(.client, settings: channel.sessionSettings) else { return nil }
    super.init(loop: channel.loop, socket: socket, session: session, tls: tls)
  }

  override var isLowLatency: Bool { channel.options.lowLatency }

  var hasRoom: Bool {
    isReady && !isRetired && !isClosed && session.streams.count < session.remoteMaxConcurrentStreams
  }

  /// The first settings are what makes a connection usable: a peer that sends none may not speak HTTP/2.
  override func sessionDidReceiveSettings() {
    guard !isReady else { return channel.connectionHasRoom() }
    isReady = true
    channel.options.observer?.connectionOpened(observed)
    channel.options.logger.log(.debug, "connection opened", ["target": channel.target.authority])
    if let interval = channel.options.keepaliveInterval { watchKeepalive(after: interval) }
    channel.connectionBecameReady(self)
  }

  override func sessionDidReceiveGoAway(lastStream: Int32, code: UInt32) {
    retire()
  }

  override func didClose(_ reason: GRPCStatus) {
    isRetired = true
    if let keepaliveTimer { loop.cancel(keepaliveTimer) }
    keepaliveTimer = nil
    if isReady { channel.options.observer?.connectionClosed(observed, reason) }
    channel.options.logger.log(
      isReady ? .debug : .warning,
      "connection closed",
      ["target": channel.target.authority, "reason": "\(reason)"]
    )
    channel.connectionDidClose(self, reason)
  }

  private var observed: ObservedConnection {
    ObservedConnection(peer: channel.target.authority, isSecure: tls != nil, isServer: false)
  }

  private func watchKeepalive(after delay: Duration) {
    let timer = LoopTimer { self.lookForLife() }
    keepaliveTimer = timer
    loop.schedule(timer, after: delay)
  }

  private func lookForLife() {
    let isIdle = session.streams.count == 0 && !channel.options.keepaliveWithoutCalls
    switch keepalive?.look(now: loop.now, lastRead: lastRead, isIdle: isIdle) {
    case nil: keepaliveTimer = nil
    case .wait(let time): watchKeepalive(after: .nanoseconds(Int64(clamping: time)))
    case .close: close(.keepaliveTimeout)
    case .ping(let time):
      session.ping(0)
      setNeedsFlush()
      watchKeepalive(after: .nanoseconds(Int64(clamping: time)))
    }
  }

  func streamDidClose() {
    if isRetired { closeIfIdle() } else { channel.connectionHasRoom() }
  }

  /// Opens no more calls; closes when the last one has ended.
  func retire() {
    guard !isRetired else { return }
    isRetired = true
    channel.connectionWasRetired(self)
    closeIfIdle()
  }

  private func closeIfIdle() {
    guard !isClosed, session.streams.count == 0 else { return }
    session.terminate(.noError)
    setNeedsFlush()
  }

  func writeRequestHeaders(_ stream: ClientCallStream) {
    let request = stream.request
    let headers = session.headers
    headers.reset()
    headers.add(":method", "POST")
    if tls == nil { headers.add(":scheme", "http") } else { headers.add(":scheme", "https") }
    headers.add(":path", request.method.pathBytes)
    if let authority = request.options?.serverAuthority {
      headers.add(":authority", authority.utf8)
    } else {
      headers.add(":authority", channel.authority)
    }
    headers.add("te", "trailers")
    headers.add("content-type", "application/grpc")
    headers.add("user-agent", channel.userAgent)
    headers.add("grpc-accept-encoding", "identity,deflate,gzip")
    if let options = request.options { writeOptions(options, stream, headers) }
  }

  private func writeOptions(_ options: CallOptions, _ stream: ClientCallStream, _ headers: HeaderWriter) {
    if let deadline = stream.deadline {
      let now = loop.now
      let rest = GRPCTimeout(nanoseconds: deadline > now ? deadline - now : 1)
      headers.add("grpc-timeout", rest.encoded)
    }
    if options.compression != .none { headers.add("grpc-encoding", options.compression.rawValue.utf8) }
    headers.add(options.initialMetadata)
  }
}
