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

  func deliver(_ message: MessageBuffer) throws(GRPCStatus) {
    if let inboundFlow {
      inboundFlow.pipe.push(message)
    } else if self.message == nil, lentMessage == nil, messagesTold == 0 {
      self.message = message
      goOn()
    } else {
      throw .tooManyResponses
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
