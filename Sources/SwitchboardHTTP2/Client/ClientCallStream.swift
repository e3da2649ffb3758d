import SwitchboardCall
import Synchronization

/// One call on the client: between a caller and an HTTP/2 stream.
final class ClientCallStream: SessionStream, @unchecked Sendable {
  // Sendable holds because what other threads may touch is `cancellation`, behind its lock, and the
  // signals; the rest is touched on the loop alone.

  /// ```
  ///   idle ──start──> waiting ──a connection has room──> open ──status──> closed
  ///                      ^────────── refused ─────────────┘
  /// ```
  /// From every phase a cancellation or the deadline leads to closed.
  enum Phase {
    case idle, waiting, open, closed
  }

  let request: CallRequest
  let receiver: any ResponseReceiver
  // The receiver's answers.
  private let wantsMetadata: Bool
  @exclusivity(unchecked) private var wantsSent = false
  let channel: HTTP2ClientTransport
  @exclusivity(unchecked) private(set) var phase = Phase.idle
  @exclusivity(unchecked) var connection: ClientConnection?
  @exclusivity(unchecked) private(set) var head: ResponseHead
  @exclusivity(unchecked) private var body = OutboundBody(endsWithStatus: false)
  @exclusivity(unchecked) var deframer: Deframer
  @exclusivity(unchecked) private(set) var inboundFlow: InboundFlow?
  @exclusivity(unchecked) var held = HeldMessages()
  @exclusivity(unchecked) private var lentMessage: UnsafeRawBufferPointer?
  @exclusivity(unchecked) var message: MessageBuffer?
  @exclusivity(unchecked) private var headersComplete = false
  @exclusivity(unchecked) private var headersToTell: HPACKHeaders?
  @exclusivity(unchecked) private var trailers = HPACKHeaders()
  @exclusivity(unchecked) private var remoteEnded = false
  @exclusivity(unchecked) private var localEnded = false
  @exclusivity(unchecked) private(set) var failure: GRPCStatus?
  @exclusivity(unchecked) var fault: PeerAbuse?
  @exclusivity(unchecked) private var closeCode: UInt32?
  /// It was refused untouched once and sent again: that is done once only.
  @exclusivity(unchecked) private var wasRetried = false
  /// It stands in the channel's queue.
  @exclusivity(unchecked) var isQueued = false
  @exclusivity(unchecked) private(set) var received = MessageTotals()
  @exclusivity(unchecked) private var timer: LoopTimer?
  @exclusivity(unchecked) private(set) var deadline: UInt64?

  @exclusivity(unchecked) private var observation: Observation?

  let signals = Atomic(0)
  let cancellation = Locked<GRPCStatus?>(nil)

  init(_ request: consuming CallRequest, _ receiver: any ResponseReceiver, _ channel: HTTP2ClientTransport) {
    deframer = Deframer(sizeLimit: request.options?.responseSizeLimit ?? channel.options.responseSizeLimit)
    inboundFlow = request.responses.map(InboundFlow.init)
    self.request = request
    self.receiver = receiver
    self.channel = channel
    wantsMetadata = receiver.wantsMetadata
    head = ResponseHead(listSizeLimit: channel.options.maxMetadataSize)
  }

  var waitsForReady: Bool { request.options?.waitForReady ?? false }

  // MARK: On the loop: the way up

  func begin() {
    guard phase == .idle else { return }
    phase = .waiting
    channel.calls.callStarted(at: channel.loop.turnTime)
    if let observer = channel.options.observer {
      let headers = request.options?.initialMetadata ?? HPACKHeaders()
      observation = Observation(
        observer,
        ObservedCall(method: request.method, headers: headers, isServer: false)
      )
    }
    if let status = cancellation.withLock({ $0 }) ?? request.options?.initialMetadata.failureToSend {
      return close(status)
    }
    // Nothing can connect any more, nor would the deadline pass.
    guard !channel.loop.hasEnded else { return close(.channelShutDown) }
    inboundFlow?.pipe.attach(self)
    if case .stream(let pipe) = request.body {
      body.pipe = pipe
      body.keepSent(upTo: channel.options.retryBufferSize)
    }
    if let timeout = request.options?.timeout, !startDeadline(timeout) { return }
    channel.dispatch(self)
  }

  private func startDeadline(_ timeout: Duration) -> Bool {
    guard timeout > .zero else {
      close(.deadlinePassed)
      return false
    }
    let timer = LoopTimer { self.endEarly(.deadlinePassed) }
    self.timer = timer
    deadline = channel.loop.now.addingSaturated(timeout.nanoseconds)
    channel.loop.schedule(timer, after: timeout)
    return true
  }

  /// Sends the request on a connection that has room for it.
  func open(on connection: ClientConnection) {
    guard phase == .waiting else { return }
    connection.writeRequestHeaders(self)
    if let refusal = connection.session.refusalOfHeaders { return close(refusal) }
    phase = .open
    self.connection = connection
    if let options = request.options { body.compression = options.compression }
    if case .message(let message) = request.body { body.setOnly(message) }
    guard connection.session.submitRequest(self) else {
      self.connection = nil
      phase = .waiting
      connection.retire()
      return channel.dispatch(self)
    }
    connection.counters.streamStarted(at: connection.loop.turnTime)
    wantsSent = receiver.wantsSent
    if wantsSent { receiver.sent(.metadata) }
    if case .stream(let pipe) = request.body { pipe.attach(self) }
    connection.setNeedsFlush()
  }

  // MARK: On the loop: the way down

  /// Ends the call from our side, with the peer told to stop.
  func endEarly(_ status: GRPCStatus) {
    guard phase == .waiting || phase == .open else { return }
    resetIfOpen()
    close(status)
  }

  private func resetIfOpen() {
    guard phase == .open, closeCode == nil, let connection, !connection.isClosed else { return }
    connection.session.reset(id, .cancel)
    connection.setNeedsFlush()
  }

  private func close(_ status: GRPCStatus) {
    guard phase != .closed else { return }
    let wasWaiting = phase == .waiting
    phase = .closed
    channel.calls.callEnded(isOk: status.isOk)
    if let timer { channel.loop.cancel(timer) }
    timer = nil
    if wasWaiting { channel.waitingCallDidClose(self) }
    if case .stream(let pipe) = request.body {
      pipe.abort(status.isOk ? .callGone : status)
      pipe.detach()
    }
    observation?.end(status, sent: body.totals, received: received)
    observation = nil
    receiver.close(status, trailers: trailers)
    inboundFlow?.pipe.detach()
    held.drop()
    forgetUnread()
  }

  /// What lies unread is of no use any more, so that the connection need not wait for it.
  private func forgetUnread() {
    guard let flow = inboundFlow, let connection, !connection.isClosed else { return }
    connection.forget(flow.takeWithheld())
  }

  // MARK: What the session tells

  override func receiveHeader(_ name: Bytes, _ value: Bytes, _ fields: FieldCollector) {
    guard phase == .open else { return }
    if head.add(name, value), wantsMetadata { fields.append(name: name, value: value) }
  }

  override func headersDidEnd(endsStream: Bool, _ fields: FieldCollector) {
    remoteEnded = remoteEnded || endsStream
    guard phase == .open, failure == nil else { return }
    if head.isTooLarge {
      connection?.report(.headersTooLarge)
      failure = .responseHeadersTooLarge(limit: channel.options.maxMetadataSize)
      return ready()
    }
    head.blockDidEnd()
    if !headersComplete {
      if head.isInformational, !endsStream {
        head.startAgain()
        return
      }
      headersComplete = true
      body.forgetSent()
      connection?.didServe()
      head.headersDidEnd(endsStream: endsStream)
      failure = head.failure
      if wantsMetadata, !endsStream { headersToTell = fields.take() }
    }
    if endsStream { trailers = fields.take() }
    ready()
  }

  override func receiveData(_ bytes: UnsafeRawBufferPointer) {
    guard let connection else { return }
    connection.settle(arrived: bytes.count, credit: take(bytes), on: id)
  }

  private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard phase == .open, failure == nil, headersComplete else { return bytes.count }
    received.bytes += bytes.count
    if inboundFlow == nil, received.messages == 0, let whole = deframer.wholeMessage(in: bytes) {
      lentMessage = whole
      countReceived()
      ready()
      return bytes.count
    }
    do { try take(bytes: bytes) } catch { fail(error) }
    return inboundFlow?.credit(forArrived: bytes.count) ?? bytes.count
  }

  func countReceived() {
    received.messages += 1
    connection?.counters.receivedMessage(at: channel.loop.turnTime)
  }

  /// The response is not what it should be.
  func fail(_ status: GRPCStatus) {
    failure = status
    connection?.report(fault ?? (status.code == .resourceExhausted ? .messageTooLarge : .brokenFraming))
    ready()
  }

  override func headersWereRefused(_ status: GRPCStatus) { failure = status }

  /// The stream is gone, if not all that came on it.
  var isOver: Bool { closeCode != nil }

  override func remoteDidEnd() {
    remoteEnded = true
    ready()
  }

  override func localDidEnd() {
    localEnded = true
    if wantsSent { receiver.sent(.end) }
  }

  override func didClose(_ code: UInt32) {
    closeCode = code
    connection?.counters.streamEnded(isWhole: remoteEnded)
    connection?.streamDidClose()
    ready()
  }

  override func readBody(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    defer { tellSent() }
    let read = body.read(into: buffer)
    if failure == nil, let broken = body.failure {
      failure = broken
      ready()
    }
    return read
  }

  override func takeBorrowed(_ count: Int) -> (MessageBuffer, UnsafeRawBufferPointer)? {
    defer { tellSent() }
    return body.takeBorrowed(count)
  }

  private func tellSent() {
    if body.sentCount > 0 { connection?.counters.sent(body.sentCount, at: channel.loop.turnTime) }
    guard wantsSent else {
      body.sentCount = 0
      return
    }
    while body.sentCount > 0 {
      body.sentCount -= 1
      receiver.sent(.message)
    }
  }

  override func runOnLoop() { handleSignals() }

  private func ready() { connection?.streamIsReady(self) }

  // MARK: After the session has taken in what was read

  override func processReady() {
    guard phase == .open else { return releaseConnection() }
    if let headers = headersToTell {
      headersToTell = nil
      receiver.receive(headers: headers)
    }
    tellMessage()
    if let failure {
      resetIfOpen()
      close(failure)
    } else if remoteEnded {
      // What came before the end is still to be told.
      if held.isEmpty { finishByPeer() }
    } else if let closeCode {
      closedByPeer(closeCode)
    }
    releaseConnection()
  }

  private func tellMessage() {
    if let lent = lentMessage {
      lentMessage = nil
      receiver.receive(message: lent.bytes)
    } else if let message {
      self.message = nil
      if message.wasCompressed { receiver.responseWasCompressed() }
      message.withBytes { receiver.receive(message: $0) }
    }
  }

  private func finishByPeer() {
    // The server has answered: what we have not sent is of no use.
    if !localEnded { resetIfOpen() }
    close(deframer.isInsideMessage ? .truncatedMessage : head.status)
  }

  private func closedByPeer(_ code: UInt32) {
    if canRetry(code) { return retry() }
    if let reason = connection?.closeReason { return close(reason) }
    close(
      GRPCStatus(
        code: GRPCStatus.Code(http2Error: code),
        message: "the stream was reset with code \(code)",
        origin: .peer
      )
    )
  }

  private func releaseConnection() {
    // What is held may still be a reason to complain of the peer.
    if closeCode != nil, held.isEmpty || phase == .closed { connection = nil }
  }

  /// What never left can be sent elsewhere, as often as need be. A stream that the server refused was not touched by
  /// it: the same may be sent once more, while we still have it.
  private func canRetry(_ code: UInt32) -> Bool {
    guard !headersComplete, let connection, channel.state != .shutdown else { return false }
    if id > connection.session.lastRequestSent { return true }
    guard code == HTTP2Error.refusedStream.rawValue, !wasRetried, body.canSendAgain else { return false }
    wasRetried = true
    return true
  }

  private func retry() {
    phase = .waiting
    id = -1
    closeCode = nil
    localEnded = false
    remoteEnded = false
    connection = nil
    head.startAgain()
    body.startAgain()
    channel.dispatch(self)
  }
}

extension GRPCStatus {
  static func responseHeadersTooLarge(limit: Int) -> GRPCStatus {
    GRPCStatus(
      code: .resourceExhausted,
      message: "the response's headers are larger than the limit of \(limit) bytes",
      origin: .peer
    )
  }

  static let tooManyResponses = GRPCStatus(
    code: .internalError,
    message: "the call takes one response and got several",
    origin: .peer
  )
}
