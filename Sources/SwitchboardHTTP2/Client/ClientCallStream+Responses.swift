import SwitchboardCall

extension ClientCallStream: MessageTaker {
  var loop: Loop { channel.loop }
  var openConnection: Connection? {
    guard phase == .open, !isOver, let connection, !connection.isClosed else { return nil }
    return connection
  }
  var announcedCompression: MessageCompression? { head.encoding }
  var messageSizeLimit: Int { deframer.sizeLimit }
  var wantsMessages: Bool { phase == .open && failure == nil }
  var messageCount: Int { received.messages }
  static var tooManyMessages: GRPCStatus { .tooManyResponses }

  func deliver(_ message: MessageBuffer) {
    if let inboundFlow {
      inboundFlow.pipe.push(message)
    } else {
      self.message = message
      goOn()
    }
  }

  func decompressionFailed(_ abuse: PeerAbuse) { fault = abuse }

  func deliveryFailed(_ status: GRPCStatus) {
    fail(status)
    goOn()
  }

  func heldMessagesWereTaken() {
    giveCredit()
    goOn()
  }

  /// Has `processReady` called, by the connection while there is one.
  private func goOn() {
    if let connection, !connection.isClosed {
      connection.streamIsReady(self)
      connection.setNeedsFlush()
    } else {
      processReady()
    }
  }
}
