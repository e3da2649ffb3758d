// unsafe: attempts are touched on their call's loop alone

/// One attempt to make a call.
final class Attempt: ResponseReceiver, @unchecked Sendable {
  // Sendable holds because everything stays on the event loop, where the transport also calls its receiver.
  /// Retained until the attempt ends, because this may be the only reference to the call.
  private var owner: RetryingCall?
  /// The attempt's requests, if the call streams them.
  let requests: MessagePipe?
  /// The attempt's responses, if they cannot go straight to the caller.
  let responses: MessagePipe?
  var call: (any ByteCall)?
  /// The position of the next request to send.
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

  /// Headers show that the server accepted the call; trailers may contain its pushback.
  var wantsMetadata: Bool { true }
  var wantsSent: Bool { true }

  func receive(headers: HPACKHeaders) { owner?.attempt(self, received: headers) }

  func sent(_ part: SentPart) {
    if case .message = part { messagesSent += 1 }
    owner?.attempt(self, sent: part, messagesSent)
  }

  func responseWasCompressed() { owner?.receiver.responseWasCompressed() }

  func receive(message: RawSpan) { owner?.attempt(self, received: message) }

  func decoder(for message: RawSpan) -> ResponseDecoder? {
    guard let decoder = owner?.receiver.decoder(for: message) else { return nil }
    return { bytes in
      let receive = decoder(bytes)
      return { self.owner?.attempt(self, received: receive) }
    }
  }

  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    guard let owner else { return }
    self.owner = nil
    call = nil
    owner.attempt(self, ended: status, trailers)
  }

  /// Ends the attempt without reporting it.
  func abandon(_ status: GRPCStatus) {
    guard owner != nil else { return }
    owner = nil
    call?.cancel(status)
    call = nil
  }
}
