import SwitchboardCall

/// Where the answers of streams go: to the session, or out as HTTP/1.1.
extension ServerConnection {
  /// Sends what is in the session's `headers`, then the body, then the trailers.
  func submitResponse(_ stream: SessionStream) {
    if let http1 { http1.respond(hasBody: true) } else { session.submitResponse(stream) }
  }

  /// Sends what is in the session's `headers` as all there is.
  func submitTrailersOnly(_ stream: SessionStream) {
    if let http1 { http1.respond(hasBody: false) } else { session.submitTrailersOnly(stream) }
  }

  /// There is more of the body to send, and the connection will be flushed.
  func resume(_ id: Int32) {
    if http1 == nil { session.resume(id) }
  }

  /// Why what is in the session's `headers` cannot be sent, if it cannot. HTTP/1.1 has no way to say how much it takes.
  var refusalOfHeaders: GRPCStatus? { http1 == nil ? session.refusalOfHeaders : nil }

  var headerListLimit: Int { http1 == nil ? session.headerListLimit : .max }

  /// The peer does not take the rest of an answer, which nobody waits for any more.
  func giveUp(_ id: Int32) {
    guard http1 == nil else { return close(.answerNotTaken) }
    session.reset(id, .cancel)
    setNeedsFlush()
  }

  /// The rest of a request is of no use to anyone.
  func stopRequest(_ id: Int32) {
    if http1 == nil { session.reset(id, .noError) }
  }
}

extension GRPCStatus {
  static let answerNotTaken = GRPCStatus(
    code: .unavailable,
    message: "the client did not take an answer before its deadline",
    origin: .peer
  )
}
