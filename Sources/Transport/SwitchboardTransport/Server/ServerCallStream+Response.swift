import SwitchboardCall
import SwitchboardNetwork
import Synchronization

// MARK: - Called by the handler, on any thread

extension ServerCallStream: LoopServerStream, MessagePipe.Observer {
  var eventLoop: any EventLoop { loop }
  var headers: HPACKHeaders { head.metadata }
  var peer: PeerIdentity { connection.peer }
  var isCancelled: Bool { isHandlerCancelled || shared.withLock(\.isClosed) }
  /// Only methods that stream requests use this pipe. For others, it has ended.
  var requests: MessagePipe { flow?.pipe ?? MessagePipe.ended }

  var responses: MessagePipe {
    change { shared in
      if let pipe = shared.responses { return pipe }
      let pipe = MessagePipe(limit: connection.core.options.streamBufferSize)
      shared.responses = pipe
      // Attached before another thread can use the pipe and before the stream can end. It is empty, so attaching sends
      // no notification.
      if shared.isClosed { pipe.abort(.callGone) } else { pipe.attach(self) }
      return pipe
    }
  }

  func setHeaders(_ headers: HPACKHeaders) { change { $0.headers = headers } }
  func addHeaders(_ headers: HPACKHeaders) { change { $0.headers = $0.headers.adding(headers) } }

  func sendHeaders() {
    if loop.inEventLoop { sendHeadersAlone() } else { signal(.headers) }
  }

  func setTrailers(_ trailers: HPACKHeaders) { change { $0.trailers = trailers } }
  func addTrailers(_ trailers: HPACKHeaders) { change { $0.trailers = $0.trailers.adding(trailers) } }

  func setCompression(_ compression: MessageCompression) { change { $0.compression = compression } }

  // Values of the application are released without the lock, because their ends may use the call.

  var userInfo: UserInfo {
    get { shared.withLock { $0.userInfo ?? UserInfo() } }
    set {
      var value: UserInfo? = newValue
      shared.withLock { swap(&$0.userInfo, &value) }
    }
  }

  var load: (any CallLoad)? {
    get { shared.withLock { $0.load } }
    set {
      var value = newValue
      change { swap(&$0.load, &value) }
    }
  }

  var serverOptions: ServerOptions { connection.core.options }
  var serverLog: ServerLog { connection.core.log }
  var shutdown: ShutdownSignal { connection.core.shutdown }

  var nameInLogs: String { "\(connection.number)/\(id)" }
  var method: MethodDescriptor { head.method?.descriptor ?? .unknown }

  func executorForHandler() -> HandlerExecutor {
    handlersDidStart()
    return HandlerExecutor(head.method?.executor, or: loop)
  }

  var isHandling: Bool { phase == .handling }
  var isHandlerCancelled: Bool { cancelled.load(ordering: .relaxed) }

  func handlerReturned() {
    if loop.inEventLoop {
      handlersDidReturn()
    } else if signals.addReturned() {
      loop.run(.task(self))
    }
  }

  func cancelHandler() {
    cancelled.store(true, ordering: .relaxed)
    task?.cancel()
  }

  func respond(_ message: consuming MessageBuffer) { settle(consume message, nil) }

  func finish(_ status: GRPCStatus) { settle(nil, status) }

  private func settle(_ message: consuming MessageBuffer?, _ status: GRPCStatus?) {
    if loop.inEventLoop { return end(consume message, status) }
    let outcome = Outcome(message, status)
    shared.withLock { if $0.outcome == nil { $0.outcome = outcome } }
    signal(.end)
  }

  /// Changes what `end` reads.
  private func change<Result>(_ body: (inout Shared) -> Result) -> Result {
    // First, so that a thread that sees the change under the lock sees this too.
    hasChoices.store(true, ordering: .releasing)
    return shared.withLock(body)
  }

  func pipeBecameReadable(_ pipe: MessagePipe) {
    // The pipe of requests is attached here too, but only the handler reads it.
    guard flow?.pipe !== pipe else { return }
    if loop.inEventLoop { sendResponses() } else { signal(.readable) }
  }

  func pipe(_ pipe: MessagePipe, wasRead byteCount: Int, leaving room: MessagePipe.Room) {
    // Both pipes report reads here, but only reads of requests affect the peer's window.
    guard let flow, flow.pipe === pipe else { return }
    loop.countRead(byteCount)
    guard flow.owesCredit(room) else { return }
    // If data is held, it would fill the pipe again at once. The signal lets the reader run in between.
    if loop.inEventLoop, !flow.isHolding, !flow.isInflated { giveCredit() } else { signal(.credit) }
  }

  func doElsewhere(_ work: @escaping @Sendable () -> Void, then finish: @escaping @Sendable () -> Void) {
    loop.execute {
      _ = self.largeMessages.run {
        if !self.isCancelled { work() }
      } then: { _ in
        finish()
      }
    }
  }

  private func signal(_ signal: StreamSignals) {
    if signals.set(signal) { loop.run(.task(self)) }
  }
}

// MARK: - On the loop

extension ServerCallStream {
  func handleSignals() {
    let taken = signals.takeSignals()
    handlersDidReturn(taken.returned)
    if taken.contains(.headers) { sendHeadersAlone() }
    if taken.contains(.readable) { sendResponses() }
    if taken.contains(.credit) { roomWasMade() }
    if taken.contains(.end), let outcome = shared.withLock({ $0.outcome }) {
      end(outcome.message, outcome.status)
    }
  }

  /// Called when the pipe of responses has a message or has ended.
  private func sendResponses() {
    guard phase == .handling || phase == .ending else { return }
    connection.sawTraffic()
    if !headersSent, dialect?.exchange.waitsForEnd == true { return }
    if headersSent {
      if body.pipe == nil { body.pipe = shared.withLock { $0.responses } }
      connection.withSession { $0.resume(id) }
    } else if phase == .handling {
      submitHeaders()
    }
    connection.setNeedsFlush()
  }

  /// Sends the headers before there are messages.
  private func sendHeadersAlone() {
    guard phase == .handling, !headersSent, dialect?.exchange.waitsForEnd != true else { return }
    connection.sawTraffic()
    submitHeaders()
    connection.setNeedsFlush()
  }

  private func submitHeaders() {
    let (metadata, pipe, compression) = shared.withLock { ($0.headers, $0.responses, $0.compression) }
    if let failure = metadata?.failureToSend { return abandonResponse(status(ofUnsendable: failure)) }
    body.compression = head.negotiated(compression)
    body.pipe = pipe
    submitResponse(metadata)
  }

  /// Returns `false` if another response was sent instead.
  @discardableResult
  private func submitResponse(_ metadata: HPACKHeaders?) -> Bool {
    guard metadata != nil || body.compression != .none || !head.contentSubtype.isUnnamed || dialect != nil
    else {
      headersDidLeave()
      connection.withServerSession { $0.submitResponse(self, constant: .response) }
      return true
    }
    connection.headers.reset()
    if let dialect { writeHead(metadata, for: dialect) } else { writeHead(metadata) }
    if metadata != nil {
      if let refusal = connection.refusalOfHeaders {
        report(oversized: refusal)
        abandonResponse(refusal)
        return false
      }
    }
    headersDidLeave()
    connection.withServerSession { $0.submitResponse(self) }
    return true
  }

  private func writeHead(_ metadata: HPACKHeaders?) {
    let headers = connection.headers
    headers.add(":status", "200")
    headers.add(head.contentSubtype)
    if body.compression != .none { headers.add("grpc-encoding", body.compression.rawValue.utf8) }
    if let metadata { headers.add(metadata) }
  }

  func headersDidLeave() {
    headersSent = true
    reportSent(.metadata)
  }

  /// Sends the failure instead of a response whose metadata cannot be sent.
  func abandonResponse(_ status: GRPCStatus) {
    shared.withLock { $0.headers = nil }
    phase = .handling
    endEarly(status)
  }

  /// Ends the call from this side. This is the only way to do so. Without a status, the call succeeds.
  func end(_ message: consuming MessageBuffer?, _ status: GRPCStatus?) {
    guard phase == .handling || phase == .receiving else { return }
    // Locked once or not at all, because in small calls the cost of the lock matters.
    let (failure, metadata, trailers, load, pipe, compression) =
      hasChoices.load(ordering: .acquiring)
      ? shared.withLock { $0.takeForEnd(beforeHeaders: !headersSent) } : (nil, nil, nil, nil, nil, .none)
    if let failure { return end(nil, self.status(ofUnsendable: failure)) }
    phase = .ending
    stopLimitingRequest()
    if let status { self.status = status }
    if let trailers = HPACKHeaders.trailers(trailers, load, connection.core.options.loadRecorder) {
      trailerMetadata = trailers
    }
    if !headersSent { body.compression = head.negotiated(compression) }
    if headersSent {
      endOpenResponse(message, pipe)
    } else if let dialect, submitAnswer(message, metadata, for: dialect) {
      // The response is complete.
    } else if let message = message.take() {
      if submitResponse(metadata) { body.setOnly(message) }
    } else if status?.isOk ?? true || metadata != nil || dialect != nil {
      body.isLast = true
      submitResponse(metadata)
    } else {
      submitTrailersOnly()
    }
    connection.setNeedsFlush()
  }

  /// Ends the call before its handler does, and cancels the handler.
  func endEarly(_ status: GRPCStatus) {
    cancelled.store(true, ordering: .relaxed)
    flow?.pipe.abort(status)
    closeForHandler()?.abort(status)
    end(nil, status)
    reportClosed(status)
    task?.cancel()
  }

  /// Ignores what the handler still sends, and ends its context. Returns the pipe of its responses.
  func closeForHandler() -> MessagePipe? {
    let (responses, context) = shared.withLock { shared in
      shared.isClosed = true
      return (shared.responses, hasContext ? shared.context : nil)
    }
    if let context { endContext(context) }
    return responses
  }

  private func endOpenResponse(_ message: MessageBuffer?, _ pipe: MessagePipe?) {
    if let pipe {
      body.pipe = pipe
      if let message { pipe.push(message) }
      pipe.finish()
    } else if let message {
      body.setOnly(message)
    } else {
      body.isLast = true
    }
    connection.withSession { $0.resume(id) }
  }

  private func submitTrailersOnly() {
    let headers = connection.headers
    headers.reset()
    headers.add(":status", "200")
    headers.add(head.contentSubtype)
    writeStatus(into: headers, limit: connection.headerListLimit)
    connection.withServerSession { $0.submitTrailersOnly(self) }
  }

  func makeTrailers(into headers: HeaderWriter) -> Trailers {
    if trailerMetadata == nil, status.map({ $0 == .ok }) ?? true { return .success }
    headers.reset()
    writeStatus(into: headers, limit: connection.headerListLimit)
    return .written
  }
}

extension ServerCallStream.Shared {
  typealias ForEnd = (
    failure: GRPCStatus?, headers: HPACKHeaders?, trailers: HPACKHeaders?, load: (any CallLoad)?,
    responses: MessagePipe?, compression: MessageCompression
  )

  /// What the end of the call needs.
  mutating func takeForEnd(beforeHeaders: Bool) -> ForEnd {
    let failure = takeUnsendable(beforeHeaders: beforeHeaders)
    return (failure, headers, trailers, load, responses, compression)
  }

  /// Removes metadata that cannot be sent. Returns the failure with which the call must then end.
  mutating func takeUnsendable(beforeHeaders: Bool) -> GRPCStatus? {
    if beforeHeaders, let failure = headers?.failureToSend {
      headers = nil
      return failure
    }
    guard let failure = trailers?.failureToSend else { return nil }
    trailers = nil
    return failure
  }
}

extension HPACKHeaders? {
  /// These fields, if there are any, and then `others`.
  func adding(_ others: HPACKHeaders) -> HPACKHeaders {
    guard var all = self else { return others }
    all.add(contentsOf: others)
    return all
  }
}

extension HandlerExecutor {
  /// The executor of the server's options, or the call's loop without one.
  @inline(__always)
  init(_ executor: (any TaskExecutor)?, or loop: Loop) {
    self = executor.map { .executor($0) } ?? .loop(loop)
  }
}

extension MessagePipe {
  static let ended: MessagePipe = {
    let pipe = MessagePipe(limit: 0)
    pipe.finish()
    return pipe
  }()
}
