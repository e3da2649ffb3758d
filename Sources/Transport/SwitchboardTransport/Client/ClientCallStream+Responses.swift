import SwitchboardCall
import SwitchboardNetwork

extension ClientCallStream: InboundMessageStream {
  var loop: Loop { channel.loop }
  var openConnection: ClientConnection? {
    guard isOpen, !state.isClosed, let connection, !connection.isClosed else { return nil }
    return connection
  }
  var announcedCompression: MessageCompression? { dialect.map(\.exchange.encoding) ?? response.head.encoding }
  var wantsMessages: Bool { isOpen }
  /// Those of the connection, also once the call does not need that any more.
  var largeMessages: LargeMessages {
    if let account = connection?.largeMessages ?? lateMessages { return account }
    let account = LargeMessages(on: loop, limit: channel.options.connectionBufferSize)
    lateMessages = account
    return account
  }

  func keepLent() { inbound.single.keep() }
  static var tooManyMessages: GRPCStatus { .tooManyResponses }

  func heldMessagesWereDelivered() {
    giveCredit()
    proceed()
  }

  func proceed() {
    if let connection, !connection.isClosed {
      connection.streamIsReady(self)
      connection.setNeedsFlush()
    } else {
      processReady()
    }
  }

  /// Decodes a large response on another thread, before the end of the call. Returns `false` if the loop may decode it.
  func decodeInBackground(_ response: SingleMessage) -> Bool {
    guard response.isLarge, let decode = response.withBytes(receiver.decoder), let body = response.buffer
    else {
      return false
    }
    if body.wasCompressed { receiver.responseWasCompressed() }
    runInBackground { () throws(GRPCStatus) in
      body.withBytes(decode)
    } then: { stream, result in
      if case .success(let receive) = result { receive() }
      stream.releaseInflated()
      stream.proceed()
    }
    return true
  }
}

extension GRPCStatus {
  static func responseHeadersTooLarge(limit: Int) -> GRPCStatus {
    GRPCStatus(
      code: .resourceExhausted,
      message: """
        the response's headers are larger than the client's limit (ChannelOptions.maxMetadataSize): \
        \(limit) bytes
        """,
      origin: .peer
    )
  }

  // gRPC assigns this code to calls with a wrong number of responses.
  static let tooManyResponses = GRPCStatus(
    code: .unimplemented,
    message: "the call takes one response and got several",
    origin: .peer
  )
}
