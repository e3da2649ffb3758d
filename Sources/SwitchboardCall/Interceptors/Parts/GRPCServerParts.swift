/// A part of the stream of requests, as the server's interceptors see it on its way to the handler.
@frozen
public enum GRPCServerRequestPart<Request> {
  /// What the client sent at the start of the call.
  case metadata(HPACKHeaders)
  /// A request. Calls that do not stream them have exactly one.
  case message(Request)
  /// Nothing follows.
  case end
}

/// A part of the stream of responses, as the server's interceptors see it on its way to the network.
@frozen
public enum GRPCServerResponsePart<Response> {
  /// What the handler sends before its first message. The transport adds its own headers later.
  case metadata(HPACKHeaders)
  /// A response. Calls that do not stream them have at most one.
  case message(Response, MessageMetadata)
  /// Why the call ended, and the trailers. Nothing follows.
  case end(GRPCStatus, HPACKHeaders)
}

extension GRPCServerRequestPart: Sendable where Request: Sendable {}

extension GRPCServerResponsePart: Sendable where Response: Sendable {}
