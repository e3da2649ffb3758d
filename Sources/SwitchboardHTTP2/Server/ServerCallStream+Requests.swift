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

  func startSingle(_ handler: MethodHandler) {
    let request = inbound.single
    inbound.single = .none
    guard !convertInBackground(request), !decodeInBackground(request, handler) else { return }
    switch request {
    case .none: end(nil, .wrongRequestCount)
    case .lent(let bytes):
      guard wire == nil else { return startOther(handler, bytes) }
      begin()
      handler.start(self, message: bytes.bytes)
    case .kept(let message):
      requestWasCompressed = message.wasCompressed
      guard wire == nil else {
        let framed = message.unsafeFramedBytes
        return withExtendedLifetime(message) {
          startOther(handler, UnsafeRawBufferPointer(rebasing: framed[MessageBuffer.prefixByteCount...]))
        }
      }
      begin()
      message.withBytes { handler.start(self, message: $0) }
    }
  }
}
