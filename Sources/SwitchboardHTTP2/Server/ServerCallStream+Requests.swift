import SwitchboardCall

extension ServerCallStream: InboundMessageStream {
  var openConnection: ServerConnection? { phase == .closed ? nil : connection }
  var announcedCompression: MessageCompression? { head.encoding }
  var wantsMessages: Bool { failure == nil && (phase == .receiving || phase == .handling) }
  static var tooManyMessages: GRPCStatus { .wrongRequestCount }

  func heldMessagesWereDelivered() {
    if state.hasRemoteEnded {
      if let wire { requestDidEnd(for: wire) }
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
    switch request {
    case .none: end(nil, .wrongRequestCount)
    case .lent(let bytes):
      if wire != nil {
        startOther(handler, bytes)
      } else {
        begin()
        if leavesHandler {
          connection.runningHandlers += 1
          return (handler, bytes)
        }
        handler.start(self, message: bytes.bytes)
      }
    case .kept(let message):
      requestWasCompressed = message.wasCompressed
      guard wire == nil else {
        let framed = message.unsafeFramedBytes
        withExtendedLifetime(message) {
          startOther(handler, UnsafeRawBufferPointer(rebasing: framed[MessageBuffer.prefixByteCount...]))
        }
        return nil
      }
      begin()
      message.withBytes { handler.start(self, message: $0) }
    }
    return nil
  }
}
