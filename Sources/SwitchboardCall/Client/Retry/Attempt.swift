/// One of the times that a call is made.
final class Attempt: ResponseReceiver, @unchecked Sendable {
  // Sendable holds because everything is touched on the event loop alone, where the transport also tells its
  // receiver.
  /// Kept until the attempt is over: it may be all that keeps the call.
  private var owner: RetryingCall?
  /// Where the attempt's requests go, where the call streams them.
  let requests: MessagePipe?
  /// Where the attempt's responses come from, where they cannot go to the caller at once.
  let responses: MessagePipe?
  var call: (any ByteCall)?
  /// The position of the next request to hand to the transport.
  var cursor = 0
  var requestsEnded = false
  var waitsForRoom = false
  private var messagesSent = 0

  var isOver: Bool { owner == nil }

  init(_ owner: RetryingCall, requests: MessagePipe?, responses: MessagePipe?) {
    self.owner = owner
    self.requests = requests
    self.responses = responses
  }

  /// Headers say that the server has taken the call, and trailers what it wants to be done.
  var wantsMetadata: Bool { true }

  func receive(headers: HPACKHeaders) {
    owner?.attempt(self, received: headers)
  }

  func sent(_ part: SentPart) {
    if case .message = part { messagesSent += 1 }
    owner?.attempt(self, sent: part, messagesSent)
  }

  func responseWasCompressed() {
    owner?.receiver.responseWasCompressed()
  }

  func receive(message: RawSpan) {
    owner?.attempt(self, received: message)
  }

  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    guard let owner else { return }
    self.owner = nil
    call = nil
    owner.attempt(self, ended: status, trailers)
  }

  /// Ends it without anyone being told.
  func abandon(_ status: GRPCStatus) {
    guard owner != nil else { return }
    owner = nil
    call?.cancel(status)
    call = nil
  }
}
