import SwitchboardCall
import SwitchboardNetwork

// MARK: - Called by the handler, on any thread

extension ServerCallStream: LoopServerStream, MessagePipe.Observer {
  var eventLoop: any EventLoop { loop }
  var headers: HPACKHeaders { head.metadata }
  var peer: PeerIdentity { connection.peer }
  var isCancelled: Bool { side.isCancelled || side.isClosed }
  /// Only methods that stream requests use this pipe. For others, it has ended.
  var requests: MessagePipe { flow?.pipe ?? MessagePipe.ended }

  var responses: MessagePipe {
    let (pipe, isTooLate) = pipeOfResponses()
    // Its later uses are as late, but one entry in the log is enough.
    if isTooLate { wasTooLate(.sent) }
    return pipe
  }

  func pipeOfResponses() -> (pipe: MessagePipe, isTooLate: Bool) {
    side.choose { choices in
      if let pipe = choices.responses { return (pipe, false) }
      let pipe = MessagePipe(limit: connection.core.options.streamBufferSize)
      choices.responses = pipe
      // Attached before another thread can use the pipe and before the stream can end. It is empty, so attaching sends
      // no notification.
      if choices.isClosed { pipe.abort(.callGone) } else { pipe.attach(self) }
      return (pipe, choices.isClosed)
    }
  }

  func setHeaders(_ headers: HPACKHeaders) {
    if headersHaveLeft { wasTooLate(.initialMetadata) }
    side.choose { $0.headers = headers }
  }

  func addHeaders(_ headers: HPACKHeaders) { side.choose { $0.headers = $0.headers.adding(headers) } }

  func sendHeaders() {
    if loop.inEventLoop { sendHeadersAlone() } else { signal(.headers) }
  }

  func setTrailers(_ trailers: HPACKHeaders) {
    if hasAnswer { wasTooLate(.trailers) }
    side.choose { $0.trailers = trailers }
  }

  func addTrailers(_ trailers: HPACKHeaders) { side.choose { $0.trailers = $0.trailers.adding(trailers) } }

  func setCompression(_ compression: MessageCompression) {
    if headersHaveLeft { wasTooLate(.compression) }
    side.choose { $0.compression = compression }
  }

  /// Whether what the headers say can no longer change.
  private var headersHaveLeft: Bool { loop.inEventLoop ? response.hasHeaders : side.headersAreMade }

  /// Whether the call has been answered, as far as this thread can see.
  private var hasAnswer: Bool {
    loop.inEventLoop ? phase == .ending || phase == .closed : side.hasAnswer
  }

  var handlerIsOver: Bool { (phase == .ending || phase == .closed) && handlers.count == 0 }

  /// Who hears of uses of the call's streams from now on, because its handler has ended it.
  var lateUses: LateUses? {
    guard !isHandlerCancelled, let method = head.method else { return nil }
    return LateUses(method, serverLog, loop)
  }

  // Values of the application are released without the lock, because their ends may use the call.

  var userInfo: UserInfo {
    get { side.withState { $0.userInfo ?? UserInfo() } }
    set {
      var value: UserInfo? = newValue
      side.withState { swap(&$0.userInfo, &value) }
    }
  }

  var load: (any CallLoad)? {
    get { side.withState { $0.load } }
    set {
      var value = newValue
      side.choose { swap(&$0.load, &value) }
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

  var task: Task<Void, any Error>? { handlers.task }
  var isHandling: Bool { phase == .handling }
  var isHandlerCancelled: Bool { side.isCancelled }

  func handlerReturned() {
    if loop.inEventLoop {
      handlersDidReturn()
    } else if side.signals.addReturned() {
      loop.run(.task(self))
    }
  }

  func cancelHandler() {
    side.cancel()
    task?.cancel()
  }

  func respond(_ message: consuming MessageBuffer) {
    if loop.inEventLoop { end(consume message, nil) } else { leave(HandlerSide.Outcome(message, nil)) }
  }

  func finish(_ status: GRPCStatus) {
    if loop.inEventLoop { end(nil, status) } else { leave(HandlerSide.Outcome(nil, status)) }
  }

  /// Leaves the end of the call to the loop.
  private func leave(_ outcome: HandlerSide.Outcome) {
    side.put(outcome)
    signal(.end)
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
    if side.signals.set(signal) { loop.run(.task(self)) }
  }
}

// MARK: - On the loop

extension ServerCallStream {
  func handleSignals() {
    let taken = side.signals.takeSignals()
    handlersDidReturn(taken.returned)
    if taken.contains(.headers) { sendHeadersAlone() }
    if taken.contains(.readable) { sendResponses() }
    if taken.contains(.credit) { roomWasMade() }
    if taken.contains(.end), let outcome = side.outcome {
      end(outcome.message, outcome.status)
    }
  }

  /// Called when the pipe of responses has a message or has ended.
  private func sendResponses() {
    guard phase == .handling || phase == .ending else { return }
    connection.sawTraffic()
    if !response.hasHeaders, dialect?.exchange.waitsForEnd == true { return }
    if response.hasHeaders {
      if response.body.pipe == nil { response.body.pipe = side.withState { $0.responses } }
      connection.withSession { $0.resume(id) }
    } else if phase == .handling {
      submitHeaders()
    }
    connection.setNeedsFlush()
  }

  /// Sends the headers before there are messages.
  private func sendHeadersAlone() {
    guard phase == .handling, !response.hasHeaders, dialect?.exchange.waitsForEnd != true else { return }
    connection.sawTraffic()
    submitHeaders()
    connection.setNeedsFlush()
  }

  private func submitHeaders() {
    let (metadata, pipe, compression) = side.takeForHeaders()
    if let failure = metadata?.failureToSend { return abandonResponse(status(ofUnsendable: failure)) }
    response.body.compression = head.terms.negotiated(compression)
    response.body.pipe = pipe
    submitResponse(metadata)
  }

  /// Returns `false` if another response was sent instead.
  @discardableResult
  private func submitResponse(_ metadata: HPACKHeaders?) -> Bool {
    guard
      metadata != nil || response.body.compression != .none || !head.terms.format.isUnnamed || dialect != nil
    else {
      headersDidLeave()
      connection.withServerSession { $0.submitResponse(self, constant: .response) }
      return true
    }
    writeHead(metadata, into: connection.headers)
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

  private func writeHead(_ metadata: HPACKHeaders?, into headers: HeaderWriter) {
    headers.reset()
    if let dialect {
      response.writeHead(metadata, for: dialect, into: headers)
      head.addCrossOrigin(to: headers)
    } else {
      let isComplete = response.writeHead(metadata, head.terms.format, into: headers)
      if !isComplete, let metadata { serverLog.leftOut.report(metadata, of: method) }
    }
  }

  func headersDidLeave() {
    response.headersDidLeave()
    reportSent(.metadata)
  }

  /// Sends the failure instead of a response whose metadata cannot be sent.
  func abandonResponse(_ status: GRPCStatus) {
    side.withState { $0.headers = nil }
    phase = .handling
    endEarly(status)
  }

  /// Ends the call from this side. This is the only way to do so. Without a status, the call succeeds.
  func end(_ message: consuming MessageBuffer?, _ status: GRPCStatus?) {
    guard phase == .handling || phase == .receiving else { return }
    let (failure, metadata, trailers, load, pipe, compression) =
      side.takeForEnd(beforeHeaders: !response.hasHeaders)
    if let failure { return end(nil, self.status(ofUnsendable: failure)) }
    phase = .ending
    stopLimitingRequest()
    // The client may leave the response unread for as long as it likes.
    if handlers.count == 0 { dropRequest() }
    if let status { response.status = status }
    let recorder = connection.core.options.loadRecorder
    if let trailers = HPACKHeaders.trailers(trailers, load, recorder) {
      response.trailers = trailers
      checkLoad(load, recorder)
    }
    if !response.hasHeaders { response.body.compression = head.terms.negotiated(compression) }
    if response.hasHeaders {
      endOpenResponse(message, pipe)
    } else if let dialect, submitAnswer(message, metadata, for: dialect) {
      // The response is complete.
    } else if let message = message.take() {
      if submitResponse(metadata) { response.body.setOnly(message) }
    } else if status?.isOk ?? true || metadata != nil || dialect != nil {
      response.body.isLast = true
      submitResponse(metadata)
    } else {
      submitTrailersOnly()
    }
    responseWaits()
    connection.setNeedsFlush()
  }

  /// Ends the call before its handler does, and cancels the handler.
  func endEarly(_ status: GRPCStatus) {
    side.cancel()
    flow?.pipe.abort(status)
    closeForHandler()?.abort(status)
    end(nil, status)
    reportClosed(status)
    task?.cancel()
  }

  /// Ignores what the handler still sends, and ends its context. Returns the pipe of its responses.
  func closeForHandler() -> MessagePipe? {
    let (responses, context) = side.close(hasContext: trace.hasContext)
    if let context { trace.endContext(context) }
    return responses
  }

  private func endOpenResponse(_ message: MessageBuffer?, _ pipe: MessagePipe?) {
    if let pipe {
      response.body.pipe = pipe
      if let message { pipe.push(message) }
      pipe.finish()
    } else if let message {
      response.body.setOnly(message)
    } else {
      response.body.isLast = true
    }
    connection.withSession { $0.resume(id) }
  }

  private func submitTrailersOnly() {
    let headers = connection.headers
    headers.reset()
    headers.add(":status", "200")
    headers.add(head.terms.format)
    writeStatus(into: headers)
    connection.withServerSession { $0.submitTrailersOnly(self) }
  }

  func makeTrailers(into headers: HeaderWriter) -> Trailers {
    if response.endsPlainly { return .success }
    headers.reset()
    writeStatus(into: headers)
    return .written
  }

  private func writeStatus(into headers: HeaderWriter) {
    let written = response.writeStatus(into: headers, limit: connection.headerListLimit)
    if let trailers = written.incomplete { serverLog.leftOut.report(trailers, of: method, inTrailers: true) }
    if let refusal = written.refusal {
      report(oversized: refusal)
    }
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
