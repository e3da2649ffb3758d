/// A handler's view of its call, usable from any task until the call ends.
///
/// ```swift
/// func greet(request: Hello_GreetRequest, context: ServerCallContext) async throws -> Hello_GreetReply {
///   let user = context.headers.first(name: "user") ?? "nobody"
///   context.setTrailers(HPACKHeaders([("served-to", user)]))
///   return .with { $0.text = "Hello, \(request.name)!" }
/// }
/// ```
@frozen
public struct ServerCallContext: Sendable {
  @usableFromInline package let stream: any ServerCallState

  /// A view of `stream`: all copies refer to the same call.
  @inlinable
  package init(_ stream: any ServerCallState) { self.stream = stream }

  /// The called method: its path, its service, its type.
  public var method: MethodDescriptor { stream.method }

  /// The metadata that the client sent.
  public var headers: HPACKHeaders { stream.headers }

  /// When the client stops waiting, from its `grpc-timeout`.
  public var deadline: ContinuousClock.Instant? { stream.deadline?.time }

  /// The address and the certificate of the caller.
  public var peer: PeerIdentity { stream.peer }

  /// The loop of the call's connection, on which the handler runs by default.
  public var eventLoop: any EventLoop { stream.eventLoop }

  /// Whether the call has ended: it was answered, the client cancelled or disconnected, or its deadline passed.
  public var isCancelled: Bool { stream.isCancelled }

  /// Whether the one request was compressed. For streamed requests, see the iterator of `RequestStream`.
  package var requestWasCompressed: Bool { stream.requestWasCompressed }

  /// Values shared by the call's interceptors and its handler.
  public var userInfo: UserInfo {
    get { stream.userInfo }
    nonmutating set { stream.userInfo = newValue }
  }

  /// The call's logger, which the server's options name: by default, one of warnings and errors to standard error.
  public var logger: Logger { stream.logger }

  /// Sets the metadata to send before the first response. Ignored once it has been sent.
  ///
  /// Fields that HTTP and gRPC set themselves are left out. A name or a value that HTTP does not allow fails the call
  /// with `INTERNAL`. What a handler sets is sent in addition to what guards of its call have set; what either sets twice
  /// has the second value only. The same applies to trailers.
  public func setInitialMetadata(_ metadata: HPACKHeaders) { stream.setHeaders(metadata) }

  /// Sends the initial metadata now instead of with the first response, for a client that waits for it.
  public func sendInitialMetadata() { stream.sendHeaders() }

  /// Sets the compression of responses, if the client accepts it. Ignored once the initial metadata has been sent.
  public func setCompression(_ compression: MessageCompression) { stream.setCompression(compression) }

  /// Sets the metadata to send with the status.
  public func setTrailers(_ trailers: HPACKHeaders) { stream.setTrailers(trailers) }
}

extension ServerCallContext {
  @available(*, unavailable, renamed: "headers")
  public var metadata: HPACKHeaders { headers }

  @available(*, unavailable, message: "call setTrailers(_:)")
  public var trailers: HPACKHeaders {
    get { [:] }
    nonmutating set {}
  }
}
