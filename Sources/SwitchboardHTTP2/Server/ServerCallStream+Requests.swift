import SwitchboardCall

extension ServerCallStream: MessageTaker {
  var openConnection: ServerConnection? { phase == .closed ? nil : connection }
  var announcedCompression: MessageCompression? { head.encoding }
  var wantsMessages: Bool { failure == nil && (phase == .receiving || phase == .handling) }
  static var tooManyMessages: GRPCStatus { .wrongRequestCount }

  func heldMessagesWereTaken() {
    if state.hasRemoteEnded {
      if let wire { requestDidEnd(for: wire) }
      endOfRequests()
    }
    giveCredit()
    // A handler that waits for the whole request may start now.
    goOn()
  }

  func goOn() {
    connection.streamIsReady(self)
    connection.setNeedsFlush()
  }
}
