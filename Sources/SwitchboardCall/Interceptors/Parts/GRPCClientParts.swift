/// A part of the stream of requests, as the client's interceptors see it on its way to the network.
@frozen
public enum GRPCClientRequestPart<Request> {
  /// What the caller sends at the start of the call. The transport adds its own headers later.
  case metadata(HPACKHeaders)
  /// A request. Calls that do not stream them have exactly one.
  case message(Request, MessageMetadata)
  /// Nothing follows.
  case end
}

/// A part of the stream of responses, as the client's interceptors see it on its way to the caller.
@frozen
public enum GRPCClientResponsePart<Response> {
  /// The response's headers. A server that fails a call at once sends none.
  case metadata(HPACKHeaders)
  /// A response. Calls that do not stream them have at most one.
  case message(Response)
  /// Why the call ended, and the trailers. Nothing follows.
  case end(GRPCStatus, HPACKHeaders)
}

extension GRPCClientRequestPart: Sendable where Request: Sendable {}

extension GRPCClientResponsePart: Sendable where Response: Sendable {}
