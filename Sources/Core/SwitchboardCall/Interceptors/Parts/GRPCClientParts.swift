/// A part of the stream of requests, as interceptors on the client see it.
@frozen
public enum GRPCClientRequestPart<Request: ~Copyable>: ~Copyable {
  /// The metadata at the start of the call. The transport adds its own headers later.
  case metadata(HPACKHeaders)
  /// A request; exactly one if the call does not stream them.
  case message(Request, MessageMetadata)
  /// The end of the requests.
  case end
}

/// A part of the stream of responses, as interceptors on the client see it.
@frozen
public enum GRPCClientResponsePart<Response> {
  /// The response headers. A server that fails a call at once sends none.
  case metadata(HPACKHeaders)
  /// A response; at most one if the call does not stream them.
  case message(Response)
  /// How the call ended, and the trailers.
  case end(GRPCStatus, HPACKHeaders)
}

extension GRPCClientRequestPart: Copyable where Request: Copyable {}

extension GRPCClientRequestPart: Sendable where Request: Sendable {}

extension GRPCClientResponsePart: Sendable where Response: Sendable {}

extension GRPCClientRequestPart where Request: ~Copyable {
  /// Passes the contents to one of the closures. A `switch` over a part that can be copied would copy them.
  @inlinable @inline(__always)
  func borrowed(
    metadata: (HPACKHeaders) -> Void,
    message: (borrowing Request, MessageMetadata) -> Void,
    end: () -> Void
  ) {
    switch self {
    case .metadata(let headers): metadata(headers)
    case .message(let contents, let metadata): message(contents, metadata)
    case .end: end()
    }
  }
}
