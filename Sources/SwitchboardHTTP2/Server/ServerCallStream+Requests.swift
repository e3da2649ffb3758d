import SwitchboardCall

extension ServerCallStream: MessageTaker {
  var openConnection: Connection? { phase == .closed ? nil : connection }
  var inboundFlow: InboundFlow? { inbound }
  var announcedCompression: MessageCompression? { head.encoding }
  var messageSizeLimit: Int { connection.options.maxRequestSize }
  var wantsMessages: Bool { failure == nil && (phase == .receiving || phase == .handling) }
  var messageCount: Int { received.messages }
  static var tooManyMessages: GRPCStatus { .wrongRequestCount }

  func deliver(_ message: MessageBuffer) {
    if let inbound {
      inbound.pipe.push(message)
    } else {
      request = message
      requestWasCompressed = message.wasCompressed
    }
  }

  func decompressionFailed(_ abuse: PeerAbuse) { fault = abuse }

  func deliveryFailed(_ status: GRPCStatus) {
    fail(status)
    connection.setNeedsFlush()
  }

  func heldMessagesWereTaken() {
    releaseEnd()
    giveCredit()
    // What waits for the request to be whole may go on.
    connection.streamIsReady(self)
    connection.setNeedsFlush()
  }
}
