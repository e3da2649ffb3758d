// unsafe: state confined to the connection's loop

import SwitchboardCall

extension ServerCallStream: InboundMessageStream {
  var openConnection: ServerConnection? { phase == .closed ? nil : connection }
  var announcedCompression: MessageCompression? { head.encoding }
  var wantsMessages: Bool { failure == nil && (phase == .receiving || phase == .handling) }
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

  /// Starts the handler with the one request, or leaves it to the caller.
  func startSingle(_ handler: MethodHandler, _ leavesHandler: Bool) -> LeftHandler? {
    let request = inbound.single
    inbound.single = .none
    guard !convertInBackground(request), !decodeInBackground(request, handler) else { return nil }
    loop.count(message: request.byteCount)
    switch request {
    case .none, .decoded: end(nil, .wrongRequestCount)
    case .lent(let bytes):
      if dialect != nil {
        startOther(handler, bytes)
      } else {
        begin()
        if leavesHandler {
          handlersDidStart()
          return (handler, bytes)
        }
        starting { handler.start(self, message: bytes.bytes) }
      }
    case .kept(let message):
      requestWasCompressed = message.wasCompressed
      guard dialect == nil else {
        let framed = message.unsafeFramedBytes
        withExtendedLifetime(message) {
          startOther(handler, UnsafeRawBufferPointer(rebasing: framed[MessageBuffer.prefixByteCount...]))
        }
        return nil
      }
      begin()
      starting { message.withBytes { handler.start(self, message: $0) } }
    }
    return nil
  }
}

// MARK: - How long requests and handlers stay

extension ServerCallStream {
  func handlersDidStart(_ count: Int = 1) {
    runningHandlers += count
    connection.runningHandlers += count
    // An interceptor that works elsewhere may let a call pass that is over.
    if phase == .closed { connection.clients.add(count) }
  }

  func handlersDidReturn(_ count: Int = 1) {
    guard count > 0 else { return }
    runningHandlers -= count
    connection.runningHandlers -= count
    forgetTask()
    guard phase == .closed else { return }
    connection.clients.remove(count)
    // The handler still has its request: it is returning.
    if runningHandlers == 0, hasLargeRequest { loop.execute { self.releaseRequest() } }
  }

  private var hasLargeRequest: Bool {
    if case .decoded = inbound.single { return true }
    return inbound.hasInflated
  }

  /// Releases a request that is large, once no handler has it any more.
  func releaseRequest() {
    releaseInflated()
    inbound.single = .none
  }
}
