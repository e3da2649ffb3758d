import SwitchboardCall

extension ClientCallStream: MessageTaker {
  var loop: Loop { channel.loop }
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

  /// The reader has made room.
  func takeMore() {
    takeHeld()
    giveCredit()
  }

  private func giveCredit() {
    guard phase == .open, !isOver, let flow = inboundFlow, !flow.isHolding, let connection,
      !connection.isClosed
    else { return }
    let credit = flow.takeWithheld()
    guard credit > 0 else { return }
    connection.settle(released: credit, on: id)
    connection.setNeedsFlush()
  }
}
