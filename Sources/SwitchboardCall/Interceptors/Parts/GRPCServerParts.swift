/// A part of the stream of requests, as interceptors on the server see it.
@frozen
public enum GRPCServerRequestPart<Request> {
  /// The metadata at the start of the call.
  case metadata(HPACKHeaders)
  /// A request; exactly one if the call does not stream them.
  case message(Request)
  /// The end of the requests.
  case end
}

/// A part of the stream of responses, as interceptors on the server see it.
@frozen
public enum GRPCServerResponsePart<Response: ~Copyable>: ~Copyable {
  /// The handler's metadata. The transport adds its own headers later.
  case metadata(HPACKHeaders)
  /// A response; at most one if the call does not stream them.
  case message(Response, MessageMetadata)
  /// How the call ended, and the trailers.
  case end(GRPCStatus, HPACKHeaders)
}

extension GRPCServerRequestPart: Sendable where Request: Sendable {}

extension GRPCServerResponsePart: Copyable where Response: Copyable {}

extension GRPCServerResponsePart: Sendable where Response: Sendable {}

extension GRPCServerResponsePart where Response: ~Copyable {
  /// Passes the message, if the part is one, to `body`. A `switch` over a part that can be copied would copy it.
  @inlinable @inline(__always)
  func withMessage(_ body: (borrowing Response, MessageMetadata) -> Void) -> Bool {
    switch self {
    case .message(let message, let metadata):
      body(message, metadata)
      return true
    default: return false
    }
  }
}
