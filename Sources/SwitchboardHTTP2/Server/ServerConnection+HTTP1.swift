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

  /// The rest of a request is of no use to anyone.
  func stopRequest(_ id: Int32) {
    if http1 == nil { session.reset(id, .noError) }
  }
}
