import SwitchboardCall

extension ClientCallStream: MessageTaker {
  var loop: Loop { channel.loop }
  var openConnection: ClientConnection? {
    guard isOpen, !state.isClosed, let connection, !connection.isClosed else { return nil }
    return connection
  }
  var announcedCompression: MessageCompression? { head.encoding }
  var wantsMessages: Bool { isOpen }
  static var tooManyMessages: GRPCStatus { .tooManyResponses }

  func heldMessagesWereTaken() {
    giveCredit()
    goOn()
  }

  func goOn() {
    if let connection, !connection.isClosed {
      connection.streamIsReady(self)
      connection.setNeedsFlush()
    } else {
      processReady()
    }
  }
}
