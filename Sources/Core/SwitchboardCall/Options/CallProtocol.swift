/// The protocol of a channel's calls. Generated clients and interceptors work the same with each protocol.
@frozen
public enum CallProtocol: Hashable, Sendable {
  /// gRPC, over HTTP/2.
  case grpc
  /// gRPC-Web, over HTTP/2 or HTTP/1.1: for servers behind proxies that do not forward trailers.
  case grpcWeb
  /// Connect, over HTTP/2 or HTTP/1.1.
  case connect
}

/// The version of HTTP that a channel uses.
@frozen
public enum HTTPVersion: Hashable, Sendable {
  /// HTTP/2. Over TLS, calls in protocols other than gRPC may also use HTTP/1.1, if the server offers nothing else.
  case negotiated
  /// HTTP/1.1, which gRPC itself cannot use. A connection carries one call at a time, and the requests of a call end
  /// before its responses begin.
  case http1
}
