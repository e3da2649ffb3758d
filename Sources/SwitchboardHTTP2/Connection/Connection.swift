import SwitchboardCall

/// One HTTP/2 connection on its loop: a socket, perhaps TLS, and a session. Servers and clients subclass it.
class Connection: Flushable, SocketDelegate, SessionDelegate {
  // Unchecked exclusivity: confined to the loop.
  let loop: Loop
  let socket: Socket
  let session: Session
  let tls: TLSFilter?
  @exclusivity(unchecked) private var isDirty = false
  @exclusivity(unchecked) final private(set) var isClosed = false
  @exclusivity(unchecked) private var ready: [SessionStream] = []
  @exclusivity(unchecked) private var headersTimer: LoopTimer?
  @exclusivity(unchecked) private var isDismissed = false
  /// Speaks in the session's place where the peer speaks HTTP/1.1.
  @exclusivity(unchecked) final private(set) var http1: HTTP1Session?
  /// Nothing is said before the peer has shown which protocol it speaks.
  @exclusivity(unchecked) final var awaitsGreeting = false
  @exclusivity(unchecked) private var greeting: [UInt8] = []
  @exclusivity(unchecked) final var inbound: InboundAccount
  @exclusivity(unchecked) final var counters = ConnectionCounters()
  /// When bytes last came, by the loop's clock; zero before the first.
  @exclusivity(unchecked) final private(set) var lastRead: UInt64 = 0

  /// How much leaves in one write. More waits for the next, so that one connection cannot hold a loop.
  private static let outputLimit = 256 * 1024

  init(loop: Loop, socket: Socket, session: Session, settings: SessionSettings, tls: TLSFilter?) {
    self.loop = loop
    self.socket = socket
    self.session = session
    self.tls = tls
    inbound = InboundAccount(
      limit: settings.unreadLimit,
      link: LinkEstimator(window: settings.streamWindow, limit: settings.windowLimit)
    )
    socket.delegate = self
    session.delegate = self
  }

  final func start() {
    if let tls {
      if case .failed(let status) = tls.handshake() { return close(status) }
    } else {
      didBecomeSecure()
    }
    socket.startReading()
    setNeedsFlush()
  }

  // MARK: For subclasses

  /// The TLS handshake is over, or there is no TLS and the connection starts.
  func didBecomeSecure() {}

  /// The connection is at its end, and its streams are about to hear of it.
  func willClose(_ reason: GRPCStatus) {}

  /// Whether someone would rather have a core busy than wait to be woken.
  var isLowLatency: Bool { false }

  /// The connection is gone, with all its streams ended.
  func didClose(_ reason: GRPCStatus) {}

  /// What this side knows beyond the reason for which the connection closes.
  func explanation(of reason: GRPCStatus) -> GRPCStatus { reason }

  /// Why the peer's first bytes show that it speaks another protocol, if they do. A subclass may send it a last
  /// word, past TLS and the session.
  func mismatch(_ protocol: PeerProtocol) -> GRPCStatus? { nil }

  /// The peer's first bytes are no greeting of HTTP/2. What is returned reads them.
  func peerSpeaksHTTP1() -> HTTP1Session? { nil }

  func sessionDidOpenStream(_ id: Int32) -> SessionStream? { nil }
  func sessionDidReceiveGoAway(_ goAway: GoAway) {}
  func sessionDidReceiveSettings() {}
  func sessionDidReceivePing(isAck: Bool, payload: UInt64) {}

  /// The peer did what it should not: for the log and the metrics.
  func report(_ abuse: PeerAbuse) {}

  /// How long headers may take from their first byte to their last.
  var headersTimeout: Duration { .seconds(20) }

  /// How many frames may wait for a peer that reads nothing.
  var unsentFrameLimit: Int { .max }

  // MARK: Reading

  /// Has the stream's `processReady` called once what was read is taken in.
  final func streamIsReady(_ stream: SessionStream) {
    guard !stream.isReady else { return }
    stream.isReady = true
    ready.append(stream)
  }

  final func socketDidRead(_ bytes: UnsafeRawBufferPointer) {
    guard !isClosed else { return }
    if lastRead == 0, let status = mismatch(PeerProtocol(firstBytes: bytes)) {
      report(tls == nil ? .notHTTP2 : .brokenTLS)
      return close(status, gently: true)
    }
    lastRead = loop.now
    guard let tls else { return receive(bytes) }
    let received = tls.receive(bytes, buffer: loop.plaintextBuffer) { event in
      switch event {
      // Who the peer is, streams ask as they begin.
      case .becameSecure: didBecomeSecure()
      case .plaintext(let bytes): receive(bytes)
      }
      return !isClosed
    }
    switch received {
    case .open: judgeRecords(tls)
    case .ended: close(.connectionLost)
    case .failed(let status): fail(tls, status)
    }
    setNeedsFlush()
  }

  /// Nothing can be sent any more but why, which TLS has said already.
  private func fail(_ tls: TLSFilter, _ status: GRPCStatus) {
    guard !isClosed else { return }
    report(.brokenTLS)
    flushPending(of: tls)
    close(status, gently: true)
  }

  /// What TLS itself may have to say to a peer that reads nothing.
  private static let pendingLimit = 64 * 1024

  /// What a peer has TLS do, below all frames.
  private func judgeRecords(_ tls: TLSFilter) {
    let idle = tls.takeIdleRecords()
    guard !isClosed else { return }
    guard idle == 0 || session.pay(forRecords: idle) else {
      return dismiss(Session.Offence(abuse: .recordFlood, code: .enhanceYourCalm))
    }
    guard tls.pendingByteCount > Self.pendingLimit else { return }
    flush()
    guard !isClosed, tls.pendingByteCount > Self.pendingLimit else { return }
    dismiss(Session.Offence(abuse: .unreadAnswers, code: .enhanceYourCalm))
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) {
    guard !isClosed else { return }
    if awaitsGreeting { return receiveGreeting(bytes) }
    if let http1 { return receive(bytes, by: http1) }
    let hadStreams = session.streams.count > 0
    let offence = session.receive(bytes, now: loop.now)
    if hadStreams || session.streams.count > 0 { expectMore() }
    processReady()
    if let offence { return dismiss(offence) }
    if session.isInsideHeaders != (headersTimer != nil) { watchHeaders() }
    if socket.isWriting, session.unsentFrames > unsentFrameLimit {
      return dismiss(Session.Offence(abuse: .unreadAnswers, code: .enhanceYourCalm))
    }
    setNeedsFlush()
  }

  /// Both protocols' first bytes may be the same.
  private func receiveGreeting(_ bytes: UnsafeRawBufferPointer) {
    greeting += bytes
    let preface = "PRI".utf8
    guard greeting.count >= preface.count || !preface.starts(with: greeting) else { return }
    awaitsGreeting = false
    if !greeting.starts(with: preface) { http1 = peerSpeaksHTTP1() }
    let first = greeting
    greeting = []
    first.withUnsafeBytes { receive($0) }
    setNeedsFlush()
  }

  private func receive(_ bytes: UnsafeRawBufferPointer, by http1: HTTP1Session) {
    http1.receive(bytes)
    if session.streams.count > 0 { expectMore() }
    processReady()
    if http1.isOver { return endHTTP1() }
    setNeedsFlush()
  }

  /// Reads what came earlier than its turn.
  final func receiveHeld(_ bytes: UnsafeRawBufferPointer) { receive(bytes) }

  /// Says what there is left to say, and closes.
  final func endHTTP1() {
    flush()
    close(.protocolBroken, gently: true)
  }

  private func watchHeaders() {
    if let headersTimer {
      loop.cancel(headersTimer)
      self.headersTimer = nil
    } else {
      let timer = LoopTimer { [unowned self] in
        dismiss(Session.Offence(abuse: .slowHeaders, code: .enhanceYourCalm))
      }
      headersTimer = timer
      loop.schedule(timer, after: headersTimeout)
    }
  }

  /// Tells the peer why, as far as it reads, and closes.
  final func dismiss(_ offence: Session.Offence) {
    guard !isClosed else { return }
    if !isDismissed { sayFarewell(offence) }
    flush()
    close(.protocolBroken, gently: true)
  }

  /// Takes nothing more from the peer; it closes once it has been told why.
  final func sayFarewell(_ offence: Session.Offence, _ reason: StaticString? = nil) {
    isDismissed = true
    report(offence.abuse)
    closeReason = .broken(by: offence.abuse)
    session.terminate(offence.code, reason)
  }

  final func sessionDidBlamePeer() {
    if !isDismissed { report(.protocolViolation) }
  }

  final var sessionNow: UInt64 { loop.now }

  private func processReady() {
    // What a stream does here may close the connection, which comes here again.
    while !ready.isEmpty {
      var streams: [SessionStream] = []
      swap(&streams, &ready)
      for stream in streams { stream.isReady = false }
      for stream in streams { stream.processReady() }
      guard ready.isEmpty else { continue }
      streams.removeAll(keepingCapacity: streams.count <= 256)
      swap(&streams, &ready)
    }
  }

  final func socketDidEnd(_ error: SocketError?) {
    if let tls, !tls.isSecure { return close(.handshakeCut) }
    // What there is still to say may be why: an error of the protocol in what came just before.
    if isDirty { flush() }
    close(error?.status("the connection broke") ?? .connectionLost)
  }

  /// Calls are going on.
  private func expectMore() { loop.expect(isLowLatency ? .urgent : .soon) }

  // MARK: Writing

  final func setNeedsFlush() {
    guard !isDirty, !isClosed else { return }
    isDirty = true
    loop.markDirty(self)
  }

  final func socketDidDrain() {
    setNeedsFlush()
  }

  final func flush() {
    isDirty = false
    guard !isClosed, !socket.isWriting else { return }
    if let tls {
      flushPending(of: tls)
      guard tls.isSecure, !socket.isWriting else { return }
    }
    guard !awaitsGreeting else { return }
    if session.streams.count > 0 { expectMore() }
    var drained = Session.Drained.some
    while drained == .some, !socket.isWriting, !isClosed {
      let output = loop.takeOutput()
      drained =
        http1?.drain(into: output, limit: Self.outputLimit)
        ?? session.drain(into: output, limit: Self.outputLimit)
      write(output)
    }
    // Streams may have ended with what was sent.
    processReady()
    guard !isClosed else { return }
    if let http1 { return http1.didDrain() }
    if drained == .failed { return close(.protocolBroken) }
    if let offence = session.takeOffence() { return dismiss(offence) }
    guard !session.wantsToRead, !session.wantsToWrite, !socket.isWriting else { return }
    close(session.errorSent.map(GRPCStatus.ended(for:)) ?? .connectionLost, gently: true)
  }

  private func write(_ output: OutputBuffer) {
    guard !output.isEmpty else { return loop.giveBack(output) }
    guard let tls else { return socket.write(output) }
    let encrypted = loop.takeOutput()
    let failure = tls.send(output, into: encrypted)
    loop.giveBack(output)
    socket.write(encrypted)
    if let failure { close(failure) }
  }

  private func flushPending(of tls: TLSFilter) {
    guard tls.pendingByteCount > 0, !socket.isWriting else { return }
    let output = loop.takeOutput()
    tls.takePending(into: output)
    socket.write(output)
  }

  // MARK: Closing

  /// Gently: so that the peer gets to read what was written last.
  final func close(_ reason: GRPCStatus, gently: Bool = false) {
    guard !isClosed else { return }
    isClosed = true
    let reason = closeReason ?? explanation(of: reason)
    closeReason = reason
    willClose(reason)
    if let headersTimer { loop.cancel(headersTimer) }
    headersTimer = nil
    session.abandonStreams(.internalError)
    processReady()
    if gently { socket.closeGently() } else { socket.close() }
    didClose(reason)
  }

  /// Why the connection closed, for the streams that end with it.
  @exclusivity(unchecked) final private(set) var closeReason: GRPCStatus?
}

extension GRPCStatus {
  static func broken(by abuse: PeerAbuse) -> GRPCStatus {
    GRPCStatus(code: .unavailable, message: "the peer broke the HTTP/2 protocol: \(abuse)", origin: .peer)
  }

  static let connectionLost = GRPCStatus(
    code: .unavailable,
    message: "the connection was closed",
    origin: .peer
  )

  static func ended(for error: UInt32) -> GRPCStatus {
    let calms = error == HTTP2Error.enhanceYourCalm.rawValue
    return GRPCStatus(
      code: .unavailable,
      message: calms
        ? "the peer asked for too much, and was told to calm down"
        : "the peer broke the HTTP/2 protocol: error \(error)",
      origin: .peer
    )
  }

  static let protocolBroken = GRPCStatus(
    code: .unavailable,
    message: "the peer broke the HTTP/2 protocol",
    origin: .peer
  )
}
