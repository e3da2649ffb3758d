/// The call as a handler behind interceptors sees it: what it sets goes through the chain before it reaches
/// the transport.
@usableFromInline
final class ServerHandlerEnd: ServerStream {
  private struct Metadata: Sendable {
    var received = HPACKHeaders()
    var initial = HPACKHeaders()
    var trailers = HPACKHeaders()
  }

  private let stream: any ServerStream
  private let transport: ServerTransportEnd
  private let metadata = Locked(Metadata())

  @usableFromInline
  init(_ stream: any ServerStream, _ transport: ServerTransportEnd) {
    self.stream = stream
    self.transport = transport
  }

  @usableFromInline var eventLoop: any EventLoop { stream.eventLoop }
  @usableFromInline var deadline: ContinuousClock.Instant? { stream.deadline }
  @usableFromInline var peer: PeerIdentity { stream.peer }
  @usableFromInline var isCancelled: Bool { stream.isCancelled }
  @usableFromInline var requestWasCompressed: Bool { stream.requestWasCompressed }
  @usableFromInline var requests: MessagePipe { stream.requests }
  @usableFromInline var responses: MessagePipe { stream.responses }
  @usableFromInline var logger: Logger { stream.logger }

  @usableFromInline
  var userInfo: UserInfo {
    get { stream.userInfo }
    set { stream.userInfo = newValue }
  }

  /// The client's metadata, as the interceptors left it.
  @usableFromInline
  var headers: HPACKHeaders {
    get { metadata.withLock { $0.received } }
    set { metadata.withLock { $0.received = newValue } }
  }

  @usableFromInline
  func setHeaders(_ headers: HPACKHeaders) { metadata.withLock { $0.initial = headers } }

  @usableFromInline
  func sendHeaders() {
    if eventLoop.inEventLoop { return transport.sendMetadata() }
    eventLoop.execute { self.transport.sendMetadata() }
  }

  @usableFromInline
  func setTrailers(_ trailers: HPACKHeaders) { metadata.withLock { $0.trailers = trailers } }

  @usableFromInline
  func setCompression(_ compression: MessageCompression) { stream.setCompression(compression) }

  @usableFromInline
  func run(_ handler: @escaping @Sendable () async -> Void) { stream.run(handler) }

  @usableFromInline
  func respond(_ message: MessageBuffer) { stream.respond(message) }

  @usableFromInline
  func finish(_ status: GRPCStatus) { stream.finish(status) }

  @usableFromInline
  func observe(_ observer: any ServerStreamObserver) { stream.observe(observer) }

  @usableFromInline
  var trailers: HPACKHeaders { metadata.withLock { $0.trailers } }

  /// What to send before the first message.
  @usableFromInline
  var initialMetadata: HPACKHeaders { metadata.withLock { $0.initial } }
}
