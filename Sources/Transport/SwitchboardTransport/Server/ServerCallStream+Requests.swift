import SwitchboardCall

extension ServerCallStream: InboundMessageStream {
  var openConnection: ServerConnection? { phase == .closed ? nil : connection }
  var announcedCompression: MessageCompression? { head.terms.encoding }
  /// Yields, so that nothing is copied to change it.
  var inbound: InboundMessages {
    @inline(__always) _read { yield request.messages }
    @inline(__always) _modify { yield &request.messages }
  }
  var wantsMessages: Bool { request.failure == nil && (phase == .receiving || phase == .handling) }
  static var tooManyMessages: GRPCStatus { .wrongRequestCount }
  var largeMessages: LargeMessages { connection.largeMessages }

  func heldMessagesWereDelivered() {
    if state.hasRemoteEnded {
      if let dialect { requestDidEnd(for: dialect) }
      endOfRequests()
    }
    giveCredit()
    // A handler that waits for the whole request may start now.
    proceed()
  }

  func proceed() {
    connection.streamIsReady(self)
    connection.setNeedsFlush()
  }

  /// Begins the call with the one request, unless that is decoded elsewhere first.
  func beginSingle(_ handler: MethodHandler) -> BegunCall? {
    let request = takeSingle()
    stopGathering()
    guard !decodeInBackground(request, handler) else { return nil }
    loop.count(message: request.byteCount)
    switch request {
    case .none, .decoded: end(nil, .wrongRequestCount)
    case .lent, .kept:
      if case .kept(let message) = request { requestWasCompressed = message.wasCompressed }
      begin()
      return (handler, request)
    }
    return nil
  }
}

// MARK: - How long requests and handlers stay

extension ServerCallStream {
  func handlersDidStart(_ count: Int = 1) {
    handlers.start(count)
    connection.runningHandlers += count
    // An interceptor that works elsewhere may let a call pass that is over.
    if phase == .closed { areAbandoned(count) }
  }

  /// So many handlers run on, although the call is over.
  func areAbandoned(_ count: Int) {
    connection.clients.add(count)
    head.method?.abandoned.add(count)
  }

  /// Has the log name a handler that goes on and lets the errors of its streams pass, until it returns.
  func watchHandler() {
    guard let method = head.method else { return }
    let watch = IgnoredEnd(method, serverLog, loop)
    if method.descriptor.type.streamsResponses { pipeOfResponses().pipe.detach(.written, watch) }
    flow?.pipe.detach(.read, watch)
  }

  func endWasIgnored(_ action: LateAction) {
    switch action {
    case .sent: side.withState { $0.responses }?.wasUsed(.written)
    case .read: flow?.pipe.wasUsed(.read)
    case .initialMetadata, .compression, .trailers: break
    }
  }

  func handlersDidReturn(_ count: Int = 1) {
    guard count > 0 else { return }
    handlers.end(count, in: loop.activity.tasks)
    connection.runningHandlers -= count
    if phase == .closed {
      connection.clients.remove(count)
      head.method?.abandoned.remove(count)
    }
    guard handlers.count == 0 else { return }
    // What a task does that is left is not the handler's.
    if phase == .closed, isHandlerCancelled {
      side.withState { $0.responses }?.detach(.written, nil)
      flow?.pipe.detach(.read, nil)
    }
    // The handler still has its request: it is returning.
    if request.isLarge, flow == nil || phase == .closed { loop.execute { self.releaseRequest() } }
  }

  /// Drops what is kept of a request that no handler is to have.
  func dropRequest() {
    dropMessages()
    releaseRequest()
    dialect?.drop()
    stopGathering()
  }

  /// Releases a request that is large, once no handler has it any more.
  func releaseRequest() {
    releaseInflated()
    inbound.single = .none
  }
}
