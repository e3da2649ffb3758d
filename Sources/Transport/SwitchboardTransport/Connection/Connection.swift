// unsafe: state confined to the connection's loop
// state: reading, flushing, silence and the end are not yet parts of their own

import SwitchboardCall
import SwitchboardNetwork

/// The parts of a connection: a socket, optional TLS, a version of HTTP, and their state. It is the base class of all
/// connections and has no methods to override; see `Connection`.
class ConnectionParts {
  // Unchecked exclusivity: confined to the loop.
  final let loop: Loop
  final let socket: Socket
  final let tls: TLSFilter?
  final let parts = SessionParts()
  /// The session of HTTP/2, once that is spoken. It is retained once for the connection, and not for each use.
  @exclusivity(unchecked) final var http2Link: Unmanaged<Session>?
  /// Whether the loop has it on its list.
  @exclusivity(unchecked) fileprivate(set) final var isDirty = false
  @exclusivity(unchecked) fileprivate(set) final var isClosed = false
  /// The streams that have something to do once the session has processed what was read.
  @exclusivity(unchecked) final var ready: [StreamEntry] = []
  /// Whether the loop has the connection among its work, because of streams that wait for the next turn.
  @exclusivity(unchecked) final var isPostponed = false
  @exclusivity(unchecked) fileprivate final var headersTimer: LoopTimer?
  /// The number of the header block that the timer limits; zero without one.
  @exclusivity(unchecked) fileprivate final var limitedHeaders = 0
  @exclusivity(unchecked) final var keepaliveTimer: LoopTimer?
  @exclusivity(unchecked) fileprivate final var isDismissed = false
  /// The first bytes of a peer that has not shown yet which version it speaks.
  @exclusivity(unchecked) final var greeting: [UInt8] = []
  /// Pays for TLS records without data.
  @exclusivity(unchecked) fileprivate final var recordCredit: PeerCredit
  @exclusivity(unchecked) final var counters = ConnectionCounters()
  /// When bytes last arrived, by the loop's clock; zero before the first.
  @exclusivity(unchecked) fileprivate(set) final var lastRead: UInt64 = 0
  /// Why the connection closed, for the streams that end with it.
  @exclusivity(unchecked) fileprivate(set) final var closeReason: GRPCStatus?
  @exclusivity(unchecked) fileprivate(set) final var socketError: SocketError?

  /// The work on its streams' large messages; `nil` before the first.
  @exclusivity(unchecked) fileprivate final var largeMessagesIfAny: LargeMessages?
  private final let unreadLimit: Int

  /// The limit of one write. The rest waits for the next turn, so that a connection cannot occupy the loop; but each
  /// turn has its price, which large responses pay.
  fileprivate static let outputLimit = 1024 * 1024

  /// The limit of the output that TLS itself may have pending for a peer that reads nothing.
  fileprivate static let pendingLimit = 64 * 1024

  /// At most `unreadLimit` bytes of decompressed messages are unread. `frameAllowance` is how much the peer may send at
  /// once that serves no call.
  init(loop: Loop, socket: Socket, tls: TLSFilter?, unreadLimit: Int, frameAllowance: Int) {
    self.loop = loop
    self.socket = socket
    self.tls = tls
    self.unreadLimit = unreadLimit
    recordCredit = PeerCredit(allowance: frameAllowance)
  }

  deinit { http2Link?.release() }

  /// Decompresses, converts and decodes on other threads, as far as memory allows.
  final var largeMessages: LargeMessages {
    if let largeMessagesIfAny { return largeMessagesIfAny }
    let new = LargeMessages(on: loop, limit: unreadLimit)
    largeMessagesIfAny = new
    return new
  }
}

/// A connection on its loop: HTTP/2, or HTTP/1.1 for protocols other than gRPC. The connections of servers and of
/// clients conform to it.
///
/// No requirement has a default: a connection that ignores an event has an empty method that says why.
protocol Connection: ConnectionParts, Flushable, LoopTask, SocketDelegate, SessionDelegate {
  associatedtype HTTP1: HTTPSession
  /// The session of HTTP/1.1, once that is spoken.
  var http1: HTTP1? { get }

  /// Called when the TLS handshake is over, or, without TLS, when the connection starts. Lets the connection speak a
  /// version of HTTP, unless the peer's first bytes have to show which one.
  func didBecomeSecure()

  /// Makes the session of a version of HTTP, the first one of the connection. Closes the connection if it cannot be made.
  func speak(_ version: SpokenVersion)

  /// Has each of these streams process what it is ready for, until the loop's time for that is used up. Returns how many
  /// did.
  func process(_ streams: inout [StreamEntry]) -> Int

  /// Called when the connection ends, before its streams end.
  func willClose(_ reason: GRPCStatus)

  /// Called when the connection has closed and all its streams have ended.
  func didClose(_ reason: GRPCStatus)

  /// Returns a more precise reason for the end of the connection, if there is one, or else `reason`.
  func explanation(of reason: GRPCStatus) -> GRPCStatus

  /// Returns a status if the peer's first bytes show that it speaks another protocol. The connection may send a last
  /// message, past TLS and the session.
  func mismatch(_ protocol: PeerProtocol) -> GRPCStatus?

  /// Called when the peer has ended its side without an error and without TLS. Whether the connection stays open.
  func peerDidEnd() -> Bool

  /// Decides what to do about a peer from which bytes last arrived at `lastRead`. `nil` stops watching the peer.
  func checkSilence() -> Keepalive.Action?

  /// Reports that the peer broke a rule, to the log and to the observer.
  func report(_ abuse: PeerAbuse)

  /// Whether to spin for a while before the loop sleeps.
  var isLowLatency: Bool { get }

  /// The time limit from the first to the last byte of a header block.
  var headersTimeout: Duration { get }
}

// MARK: - Reading

extension Connection {
  func start() {
    socket.delegate = self
    tls?.join(loop.sweep)
    if let tls {
      if case .failed(let status) = tls.handshake() { return close(status) }
    } else {
      didBecomeSecure()
    }
    guard !isClosed else { return }
    socket.startReading()
    setNeedsFlush()
  }

  func socketDidRead(_ bytes: UnsafeRawBufferPointer) {
    guard !isClosed else { return }
    if lastRead == 0, let status = mismatch(PeerProtocol(firstBytes: bytes)) {
      report(tls == nil ? .notHTTP2 : .brokenTLS)
      return close(status, gently: true)
    }
    lastRead = loop.now
    guard let tls else { return receive(bytes) }
    let received = tls.receive(bytes, buffer: loop.plaintextBuffer) { event in
      switch event {
      // Before the plaintext: streams use the peer's identity from their start.
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

  /// Closes the connection. All that can still be sent is the alert that TLS has prepared.
  private func fail(_ tls: TLSFilter, _ status: GRPCStatus) {
    guard !isClosed else { return }
    report(.brokenTLS)
    flushPending(of: tls)
    close(status, gently: true)
  }

  /// Limits the TLS work that a peer causes without sending frames.
  private func judgeRecords(_ tls: TLSFilter) {
    let idle = tls.takeIdleRecords()
    guard !isClosed else { return }
    guard idle == 0 || recordCredit.spend(idle, now: loop.now) else {
      return dismiss(Offense(abuse: .recordFlood, code: .enhanceYourCalm))
    }
    guard tls.pendingByteCount > Self.pendingLimit else { return }
    flush()
    guard !isClosed, tls.pendingByteCount > Self.pendingLimit else { return }
    dismiss(Offense(abuse: .unreadAnswers, code: .enhanceYourCalm))
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) {
    guard !isClosed else { return }
    let hadStreams = openStreams > 0
    guard let offense = withSession({ $0.receive(bytes, now: loop.now) }) else {
      return receiveGreeting(bytes)
    }
    if hadStreams || openStreams > 0 { expectMore() }
    processReady()
    guard !isClosed else { return }
    if let offense { return dismiss(offense) }
    watchHeaders()
    setNeedsFlush()
  }

  /// Collects the first bytes until they show which version the peer speaks.
  private func receiveGreeting(_ bytes: UnsafeRawBufferPointer) {
    greeting += bytes
    guard let version = SpokenVersion(firstBytes: greeting) else { return }
    let first = greeting
    greeting = []
    speak(version)
    first.withUnsafeBytes { receive($0) }
    setNeedsFlush()
  }

  /// Called when the session has read more of what it held, while `drain` runs: the streams do what they postponed.
  func didReadHeld() {
    processReady()
    if !isClosed { watchHeaders() }
  }

  func watchHeaders() {
    let incomplete = withSession { $0.incompleteHeaders } ?? 0
    guard incomplete != limitedHeaders else { return }
    limitedHeaders = incomplete
    if let headersTimer {
      loop.cancel(headersTimer)
      self.headersTimer = nil
    }
    guard incomplete != 0 else { return }
    let timer = LoopTimer { [weak self] in
      self?.dismiss(Offense(abuse: .slowHeaders, code: .enhanceYourCalm))
    }
    headersTimer = timer
    loop.schedule(timer, after: headersTimeout)
  }

  /// Sends the reason to the peer, as far as the peer reads it, and closes the connection.
  func dismiss(_ offense: Offense) {
    guard !isClosed else { return }
    if !isDismissed { announceClose(offense) }
    flush()
    close(.protocolBroken, gently: true)
  }

  /// Sends the peer the reason why the connection ends. Accepts nothing more from it; the next flush closes the
  /// connection.
  func announceClose(_ offense: Offense, _ reason: StaticString? = nil) {
    isDismissed = true
    report(offense.abuse)
    closeReason = offense.status(over: withSession { $0.version } ?? "TLS")
    withSession { $0.terminate(offense, reason) }
  }

  func sessionDidBlamePeer() {
    if !isDismissed { report(.protocolViolation) }
  }

  var sessionNow: UInt64 { loop.now }

  var outputWaits: Bool { socket.isWriting }

  func socketDidEnd(_ error: SocketError?) {
    if let tls, !tls.isSecure { return close(.handshakeCut) }
    // Pending output may tell the peer about a protocol error in its last bytes.
    if isDirty { flush() }
    // TLS ends with a record of its own, or was cut.
    if error == nil, tls == nil, !isClosed, peerDidEnd() { return }
    socketError = error
    close(error?.status("the connection broke") ?? .connectionLost)
  }

  /// Called while calls are in progress.
  private func expectMore() { loop.expect(isLowLatency ? .urgent : .likely) }
}

// MARK: - Writing and flow control

extension Connection {
  /// Inlined, because the connection usually needs a flush already.
  @inline(__always)
  func setNeedsFlush(nextTurn: Bool = false) {
    guard !isDirty, !isClosed else { return }
    isDirty = true
    loop.markDirty(self, nextTurn: nextTurn)
  }

  func socketDidDrain() {
    setNeedsFlush()
  }

  /// Writes what is ready, as far as its limit for one turn and the socket allow. If the loop still has the connection on its
  /// list, it finds nothing more to write.
  func flush() {
    isDirty = false
    guard !isClosed, !socket.isWriting else { return }
    if let tls {
      flushPending(of: tls)
      guard tls.isSecure, !socket.isWriting else { return }
    }
    if openStreams > 0 { expectMore() }
    let output = loop.takeOutput()
    let drained = withSession { $0.drain(into: output, limit: Self.outputLimit) } ?? .all
    if isClosed { loop.giveBack(output) } else { write(output) }
    // Sending may have ended streams.
    processReady()
    guard !isClosed else { return }
    switch drained {
    case .all: break
    case .some: if !socket.isWriting { setNeedsFlush(nextTurn: true) }
    case .failed: close(.protocolBroken)
    case .offense(let offense): dismiss(offense)
    case .over(let reason, let onceWritten):
      if !onceWritten || !socket.isWriting { close(reason, gently: true) }
    }
  }

  /// Settles held bytes of a stream that were read.
  func settle(released byteCount: Int, on id: Int32) {
    withSession { $0.settle(released: byteCount, on: id) }
    setNeedsFlush()
  }

  /// Settles held bytes of a stream that has closed.
  func forget(_ byteCount: Int) {
    guard byteCount > 0 else { return }
    withSession { $0.forget(byteCount) }
    setNeedsFlush()
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
}

// MARK: - Closing

extension Connection {
  /// With `gently`, the peer can still read the last output.
  func close(_ reason: GRPCStatus, gently: Bool = false) {
    guard !isClosed else { return }
    isClosed = true
    let reason = closeReason ?? explanation(of: reason)
    closeReason = reason
    willClose(reason)
    for timer in [headersTimer, keepaliveTimer] {
      if let timer { loop.cancel(timer) }
    }
    (headersTimer, keepaliveTimer) = (nil, nil)
    withSession { $0.connectionDidClose() }
    processReady()
    withSession { $0.join(nil) }
    tls?.join(nil)
    if gently { socket.closeGently() } else { socket.close() }
    didClose(reason)
  }
}

extension GRPCStatus {
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
        ? "the peer sent too much, and the connection ended with ENHANCE_YOUR_CALM"
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
