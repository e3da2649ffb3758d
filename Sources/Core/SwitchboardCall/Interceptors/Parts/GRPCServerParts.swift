/// A part of the stream of requests, as interceptors on the server see it.
@frozen
public enum GRPCServerRequestPart<Request: ~Copyable>: ~Copyable {
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

extension GRPCServerRequestPart: Copyable where Request: Copyable {}

extension GRPCServerRequestPart: Sendable where Request: Sendable {}

extension GRPCServerResponsePart: Copyable where Response: Copyable {}

extension GRPCServerResponsePart: Sendable where Response: Sendable {}

extension GRPCServerRequestPart where Request: ~Copyable {
  /// Passes the contents to one of the closures. A `switch` over a part that can be copied would copy them.
  @inlinable @inline(__always)
  func borrowed(metadata: (HPACKHeaders) -> Void, message: (borrowing Request) -> Void, end: () -> Void) {
    switch self {
    case .metadata(let headers): metadata(headers)
    case .message(let contents): message(contents)
    case .end: end()
    }
  }
}

extension GRPCServerResponsePart where Response: ~Copyable {
  /// The same for responses.
  @inlinable @inline(__always)
  func borrowed(
    metadata: (HPACKHeaders) -> Void,
    message: (borrowing Response, MessageMetadata) -> Void,
    end: (GRPCStatus, HPACKHeaders) -> Void
  ) {
    switch self {
    case .metadata(let headers): metadata(headers)
    case .message(let contents, let metadata): message(contents, metadata)
    case .end(let status, let trailers): end(status, trailers)
    }
  }
}
