/// What a handler knows of its call and may set on it. Usable from any task, until the call has ended.
@frozen
public struct ServerCallContext: Sendable {
  @usableFromInline let stream: any ServerCallState

  /// A view of the stream: copies are of the same call.
  @inlinable
  package init(_ stream: any ServerCallState) {
    self.stream = stream
  }

  /// The metadata that the client sent.
  public var headers: HPACKHeaders { stream.headers }

  /// When the client stops waiting, by its `grpc-timeout`.
  public var deadline: ContinuousClock.Instant? { stream.deadline }

  /// Who makes the call, by address and certificate.
  public var peer: PeerIdentity { stream.peer }

  /// The loop of the call's connection; by default the handler runs on it.
  public var eventLoop: any EventLoop { stream.eventLoop }

  /// Whether the call has ended already: the client cancelled, its deadline passed, or it is gone.
  public var isCancelled: Bool { stream.isCancelled }

  /// Whether the one request came compressed. A stream of requests says it of each: see `RequestStream`.
  public var requestWasCompressed: Bool { stream.requestWasCompressed }

  /// What the call's interceptors and its handler share.
  public var userInfo: UserInfo {
    get { stream.userInfo }
    nonmutating set { stream.userInfo = newValue }
  }

  /// Where to log to; quiet unless the server's options name a logger.
  public var logger: Logger { stream.logger }

  /// Metadata to send before the first response. Ignored once that has been sent.
  ///
  /// Names that HTTP and gRPC write themselves are left out of it. One that HTTP does not allow, or such a value, fails the
  /// call with `INTERNAL`; the same holds for trailers.
  public func setInitialMetadata(_ metadata: HPACKHeaders) { stream.setHeaders(metadata) }

  /// Sends the initial metadata now, rather than with the first response: for a client that waits for it.
  public func sendInitialMetadata() { stream.sendHeaders() }

  /// How responses are compressed, where the client says that it takes them so; otherwise they are not.
  /// Ignored once the initial metadata has been sent.
  public func setCompression(_ compression: MessageCompression) { stream.setCompression(compression) }

  /// Metadata to send with the status.
  public func setTrailers(_ trailers: HPACKHeaders) { stream.setTrailers(trailers) }
}
