// unsafe: state confined to the connection's loop

import SwitchboardCall
import SwitchboardNetwork
import Synchronization

/// A call on the client, between a caller and an HTTP/2 stream: its parts, and the events that pass between them.
final class ClientCallStream: StreamEntry, SessionStream, LoopTask, @unchecked Sendable {
  // Sendable because other threads only use `cancellation`, which has a lock, and the signals. The rest is only used on
  // the loop.

  /// ```
  ///                no room   its turn
  ///                   ┌─> waiting ─┐
  ///                   │            v
  ///   idle ──start──> started ──a connection has room──> open ──the response is whole──> closed
  ///                      ^────────────refused─────────────┤                                ^
  ///                                                       └──it is broken──> failing ──────┘
  /// ```
  /// From every phase except `idle`, a cancellation or the deadline leads to `closed`.
  enum Phase {
    case idle
    case started
    /// In the channel's queue.
    case waiting
    case open
    /// The call ends when the session has processed what was read.
    case failing(GRPCStatus)
    case closed
  }

  struct Wants {
    let metadata: Bool
    /// Whether to notify it of what was sent. Known when the stream opens.
    fileprivate(set) var sent = false
  }

  let request: CallRequest
  let receiver: any ResponseReceiver
  /// What the receiver wants to know.
  @exclusivity(unchecked) private(set) var wants: Wants
  let channel: HTTP2ClientTransport
  @exclusivity(unchecked) var phase = Phase.idle
  @exclusivity(unchecked) var server = AssignedServer()
  /// Whether it is one of the channel's calls.
  @exclusivity(unchecked) var isCounted = false
  /// The stream's connection, until the stream has closed and its messages were read.
  @exclusivity(unchecked) private(set) var connection: ClientConnection?
  /// The account of the large messages that are read later.
  @exclusivity(unchecked) var lateMessages: LargeMessages?
  @exclusivity(unchecked) private(set) var state = StreamState.open
  @exclusivity(unchecked) var response: ClientResponse
  /// The state of a call of another protocol; `nil` for gRPC.
  @exclusivity(unchecked) var dialect: ClientDialectState?
  @exclusivity(unchecked) var body = OutboundBody(endsWithStatus: false)
  @exclusivity(unchecked) var inbound: InboundMessages
  let flow: InboundFlow?
  /// Whether the server refused the call unprocessed, so that it was sent again. This happens only once.
  @exclusivity(unchecked) private var wasRetried = false
  @exclusivity(unchecked) private(set) var timer: LoopTimer?
  @exclusivity(unchecked) var trace: AttemptTrace

  let signals = Atomic(0)
  let cancellation = Locked<GRPCStatus?>(nil)

  init(
    _ request: consuming CallRequest,
    _ receiver: borrowing any ResponseReceiver,
    _ channel: borrowing HTTP2ClientTransport
  ) {
    flow = request.responses.map { InboundFlow($0) }
    trace = AttemptTrace(mark: channel.mistakes.mark(of: request.method))
    inbound = InboundMessages(
      limit: .response(request.options, orOfChannel: channel.options.responseSizeLimit)
    )
    self.request = consume request
    self.receiver = copy receiver
    self.channel = copy channel
    wants = Wants(metadata: receiver.wantsMetadata)
    response = ClientResponse(headSizeLimit: channel.options.maxMetadataSize)
  }

  var isOpen: Bool { if case .open = phase { true } else { false } }
  var isStarted: Bool { if case .started = phase { true } else { false } }
  var isWaiting: Bool { if case .waiting = phase { true } else { false } }
  private var isClosed: Bool { if case .closed = phase { true } else { false } }

  // MARK: Starting

  /// Begins the call on the loop. From another thread, it signals that.
  func start() {
    guard channel.loop.inEventLoop else { return signal(.start) }
    guard case .idle = phase else { return }
    phase = .started
    isCounted = true
    channel.calls.callStarted(at: channel.loop.turnTime)
    startTracing()
    if let status = cancellation.withLock({ $0 }) ?? request.failureToSend {
      return close(status)
    }
    // A loop that has ended can neither connect nor run timers.
    guard !channel.loop.hasEnded else { return close(.channelShutDown) }
    flow?.pipe.attach(self)
    if case .stream(let pipe) = request.body {
      body.pipe = pipe
      body.keepSent(upTo: channel.options.retryBufferSize)
    }
    if let deadline = request.deadline {
      timer = channel.loop.startTimer(at: deadline) { self.deadlinePassed() }
      if timer == nil { return close(deadlineStatus) }
    }
    dispatch()
  }

  /// Opens the stream on a connection with room. If there is none, the channel opens it once there is.
  func dispatch() {
    do throws(GRPCStatus) {
      if let connection = try channel.connection(for: self) { open(on: connection) }
    } catch {
      close(error)
    }
  }

  /// Sends the request.
  func open(on connection: ClientConnection) {
    startExchange()
    do throws(GRPCStatus) {
      writeHeaders(
        to: connection.headers,
        isSecure: connection.tls != nil,
        try rewrittenAuthority(connection)
      )
    } catch { return close(error) }
    let hasBody = prepareBody(connection.headers)
    if let refusal = connection.refusalOfHeaders { return close(refusal) }
    phase = .open
    self.connection = connection
    guard connection.withClientSession({ $0.submitRequest(self, hasBody: hasBody) }) == true else {
      self.connection = nil
      phase = .started
      connection.retire()
      guard isCounted else { return close(.connectionLost) }
      return pickAgain()
    }
    if isCounted { server.subchannel?.callStarted() }
    if let subchannel = server.subchannel { request.servers?.add(ObjectIdentifier(subchannel)) }
    connection.counters.streamStarted(at: connection.loop.turnTime)
    wants.sent = receiver.wantsSent
    if wants.sent { receiver.sent(.metadata) }
    if case .stream(let pipe) = request.body { pipe.attach(self) }
    connection.setNeedsFlush()
  }

  // MARK: On the loop: ending

  /// Ends the call from this side, and tells the peer to stop.
  func endEarly(_ status: GRPCStatus) {
    if case .idle = phase { return }
    guard !isClosed else { return }
    resetAndClose(status)
  }

  func resetAndClose(_ status: GRPCStatus, isAnswer: Bool = false) {
    let connection = connection
    let end = reset()
    // Before the connection, which would otherwise end the call with its own status.
    close(status, isAnswer: isAnswer)
    if let end { connection?.close(end) }
  }

  /// Tells the peer to stop. Returns a status if only the end of the connection can, which is left to the caller.
  func reset() -> GRPCStatus? {
    guard !state.isClosed, let connection, !connection.isClosed else { return nil }
    return connection.cancelStream(id)
  }

  func close(_ status: GRPCStatus, isAnswer: Bool = false) {
    guard !isClosed else { return }
    let wasWaiting = isWaiting
    phase = .closed
    if isCounted { channel.callEnded(status) }
    if let timer { channel.loop.cancel(timer) }
    timer = nil
    if wasWaiting { channel.waitingCallDidClose(server.subchannel) }
    // While the server is known.
    endTracing(status)
    leave(status)
    if case .stream(let pipe) = request.body {
      pipe.abort(status.isOk ? .callGone : status)
      pipe.detach()
    }
    // An answer is delivered with all that arrived.
    if isAnswer {
      receiver.close(status, trailers: response.trailers)
    } else {
      working { receiver.close(status.ofChannel, trailers: response.trailers) }
    }
    flow?.pipe.detach()
    dropMessages()
    releaseInflated()
    forgetUnread()
  }

  // MARK: Events of the session

  func receiveHeader(_ name: Bytes, _ value: Bytes, _ fields: FieldCollector) {
    guard isOpen else { return }
    guard response.head.add(name, value) else { return }
    if let dialect, !response.head.isWhole { return takeHeader(name, value, of: dialect) }
    if wants.metadata { fields.append(name: name, value: value) }
    server.noteReport(name, value)
  }

  func headersDidEnd(endsStream: Bool, _ fields: FieldCollector) {
    if endsStream { state.remoteDidEnd() }
    guard isOpen else { return }
    if response.head.isTooLarge {
      connection?.report(.headersTooLarge)
      phase = .failing(.responseHeadersTooLarge(limit: channel.options.maxMetadataSize))
      connection?.streamIsReady(self)
      return
    }
    response.head.blockDidEnd()
    let isFirst = !response.head.isWhole
    if isFirst {
      if response.head.isInformational, !endsStream { return response.head.startAgain() }
      response.head.headersDidEnd(endsStream: endsStream)
      if let dialect { return headersDidEnd(for: dialect) }
      body.forgetSent()
      // A health or load stream does not count as use of the connection.
      if isCounted { connection?.didServe() }
      if wants.metadata, !endsStream { response.deliverLater(withCookie(fields.take())) }
      if let failure = response.head.failure { phase = .failing(failure) }
    }
    if endsStream {
      let trailers = takeTrailers(fields)
      response.trailers = isFirst ? withCookie(trailers) : trailers
    }
    connection?.streamIsReady(self)
  }

  func receiveData(_ bytes: UnsafeRawBufferPointer) {
    guard let connection else { return }
    let credit =
      isOpen && response.head.isWhole ? dialect.map { take(bytes, for: $0) } ?? take(bytes) : bytes.count
    connection.withSession { $0.settle(arrived: bytes.count, credit: credit, on: id) }
  }

  func countReceived(_ byteCount: Int) {
    inbound.totals.messages += 1
    if trace.reportsMessages, let tracer = trace.tracer { tracer.messageReceived(byteCount) }
    connection?.counters.receivedMessage(at: channel.loop.turnTime)
  }

  /// The response is invalid.
  func fail(_ status: GRPCStatus) {
    phase = .failing(status)
    connection?.report(inbound.abuse(status))
    connection?.streamIsReady(self)
  }

  func headersWereRefused(_ status: GRPCStatus) {
    if isOpen { phase = .failing(status) }
  }

  func remoteDidEnd() {
    state.remoteDidEnd()
    if let dialect { deliverBody(for: dialect) }
    connection?.streamIsReady(self)
  }

  func localDidEnd() {
    state.localDidEnd()
    if wants.sent { receiver.sent(.end) }
  }

  func didClose(_ code: UInt32) {
    state.didClose(code)
    dialect?.stopDraining(on: channel.loop)
    connection?.counters.streamEnded(isWhole: state.hasRemoteEnded)
    connection?.streamDidClose()
    connection?.streamIsReady(self)
  }

  func readBody(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    defer { reportSent() }
    let read = body.read(into: buffer)
    if isOpen, let broken = body.failure {
      phase = .failing(broken)
      connection?.streamIsReady(self)
    }
    return read
  }

  func takeBorrowed(_ count: Int) -> (MessageBuffer, UnsafeRawBufferPointer)? {
    defer { reportSent() }
    return body.takeBorrowed(count)
  }

  /// A request ends with its body.
  func trailers(into headers: HeaderWriter) -> Trailers { .none }

  private func reportSent() {
    if body.sentCount > 0 {
      connection?.counters.sent(body.sentCount, at: channel.loop.turnTime)
      if trace.reportsMessages, let tracer = trace.tracer { body.report(to: tracer) }
    }
    guard wants.sent else {
      body.sentCount = 0
      return
    }
    while body.sentCount > 0 {
      body.sentCount -= 1
      receiver.sent(.message)
    }
  }

  func runOnLoop() { handleSignals() }

  // MARK: After the session has processed what was read

  func processReady() {
    switch phase {
    case .open, .failing: working { deliver() }
    case .idle, .started, .waiting, .closed: break
    }
    // The connection is still needed to report held bytes that turn out to be invalid.
    guard state.isClosed, inbound.isEmpty || isClosed else { return }
    if flow != nil, let connection { lateMessages = connection.largeMessages }
    connection = nil
  }

  private func deliver() {
    if let headers = response.takeMetadata() { receiver.receive(headers: headers) }
    deliverMessage()
    // The receiver may have ended the call.
    switch phase {
    case .failing(let failure): resetAndClose(failure)
    case .open where state.hasRemoteEnded:
      // Messages that arrived before the end are delivered first.
      if inbound.isEmpty { finishByPeer() }
    case .open where inbound.end != nil: if inbound.isEmpty { finishByLastFrame() }
    case .open: if case .cut(let code) = state { closedByPeer(code) }
    case .idle, .started, .waiting, .closed: break
    }
  }

  private func deliverMessage() {
    let message = inbound.takeSingle()
    switch message {
    case .none, .decoded: return
    case _ where decodeInBackground(message): return
    case .lent(let bytes): receiver.receive(message: bytes.bytes)
    case .kept(let message):
      if message.wasCompressed { receiver.responseWasCompressed() }
      message.withBytes { receiver.receive(message: $0) }
    }
    loop.count(message: message.byteCount)
    releaseInflated()
  }

  private func finishByPeer() {
    let status = inbound.isInsideMessage ? .truncatedMessage : dialect.map(endStatus) ?? response.head.status
    // The server has responded, so the rest of the request is not needed.
    if state == .remoteEnded { resetAndClose(status, isAnswer: true) } else { close(status, isAnswer: true) }
  }

  private func closedByPeer(_ code: UInt32) {
    if canRetry(code) { return retry() }
    if code == HTTP2Error.cancel.rawValue, hasNoTimeLeft { return close(deadlineStatus) }
    if let reason = connection?.closeReason { return close(reason) }
    close(.reset(code))
  }

  /// A request that was not sent can be sent on another connection, as often as necessary. A request that the server
  /// refused unprocessed may be sent one more time, if it is still stored completely.
  private func canRetry(_ code: UInt32) -> Bool {
    guard isCounted, !response.head.isWhole, connection != nil, channel.state != .shutdown else {
      return false
    }
    if isUnsent { return true }
    guard code == HTTP2Error.refusedStream.rawValue, !wasRetried, body.canSendAgain else { return false }
    wasRetried = true
    return true
  }

  private func retry() {
    phase = .started
    id = -1
    state = .open
    connection = nil
    if let again = attemptTracer?.isSentAgain(request.stamp) { startTracing(again) }
    response.head.startAgain()
    body.startAgain()
    server.subchannel?.callEnded(.connectionLost)
    pickAgain()
  }
}
