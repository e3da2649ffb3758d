// unsafe: state confined to the connection's loop

import SwitchboardCall

/// Answers to requests that are not calls: an HTTP status, and why.
extension ServerCallStream {
  /// Responds to a request that is not a call. Clients of gRPC find the reason in the headers, all others in the body.
  func reject(
    _ code: StaticString,
    _ message: String,
    header: (name: StaticString, value: String)? = nil
  ) {
    phase = .ending
    stopLimitingRequest()
    // The dialect would end the answer once more, in its own way.
    dialect = nil
    let headers = connection.headers
    headers.reset()
    headers.add(":status", UnsafeBufferPointer(start: code.utf8Start, count: code.utf8CodeUnitCount))
    if let header { headers.add(header.name, header.value.utf8) }
    if head.terms.isGRPC || connection.core.dialects.isEmpty {
      headers.add("grpc-status", "13")
      headers.add("grpc-message", message.utf8)
      connection.withServerSession { $0.submitTrailersOnly(self) }
    } else {
      submitReason(code, message)
    }
    connection.setNeedsFlush()
  }

  /// The reason is an error of Connect if its clients may have asked, whose code is what they infer from the HTTP
  /// status. Others take JSON for the answer of a protocol that they do not speak, so they get text.
  private func submitReason(_ code: StaticString, _ message: String) {
    let reason = GRPCStatus(code: .init(httpStatus: Int("\(code)") ?? 0), message: message, origin: .peer)
    // The request counts as failed.
    response.status = reason
    let isJSON = head.request.mayBeConnect
    let body =
      isJSON
      ? MessageBuffer(ConnectError(describe: nil).json(of: reason)) : MessageBuffer("\(message)\n".utf8)
    let headers = connection.headers
    headers.add("content-type", isJSON ? "application/json" : "text/plain; charset=utf-8")
    headers.add("content-length", number: body.byteCount)
    // A page whose origin is refused sees nothing.
    if head.origin.rules?.allows(head.request.headers) ?? false { head.addCrossOrigin(to: headers) }
    submitWhole(head.isHead ? .none : .message(body))
  }
}
