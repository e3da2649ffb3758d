/// The load that a call reports: an object of the module that knows how to send it.
@usableFromInline package typealias CallLoad = AnyObject & Sendable

/// A handler's view of its call. Usable from any thread.
@usableFromInline package protocol ServerCallState: AnyObject, Sendable {
  /// The loop of the call's connection.
  var eventLoop: any EventLoop { get }
  var headers: HPACKHeaders { get }
  /// When the client stops waiting.
  var deadline: ContinuousClock.Instant? { get }
  var peer: PeerIdentity { get }
  /// Whether the call has ended and nothing waits for an answer.
  var isCancelled: Bool { get }

  var requestWasCompressed: Bool { get }

  /// Sets the metadata to send before the first message. Ignored once headers have been sent.
  func setHeaders(_ headers: HPACKHeaders)
  /// Sends the metadata now instead of with the first message.
  func sendHeaders()
  /// Sets the metadata to send with the status.
  func setTrailers(_ trailers: HPACKHeaders)

  /// Compresses responses from now on, if the client accepts it. Ignored once headers have been sent.
  func setCompression(_ compression: MessageCompression)

  /// Values shared by the call's interceptors and its handler.
  var userInfo: UserInfo { get set }

  /// The load to send with the status.
  var load: (any CallLoad)? { get set }

  var logger: Logger { get }
}

/// The interface between calls and transports on the server: one call that a transport has accepted and routed. Usable
/// from any thread.
@usableFromInline package protocol ServerStream: ServerCallState {
  /// Request messages, if the method streams them.
  var requests: MessagePipe { get }
  /// Response messages. The first access sends the response headers.
  var responses: MessagePipe { get }

  /// Where the server's options say that the call's handler runs. Asked for once, just before the handler starts. On
  /// the loop.
  func placeForHandler() -> HandlerPlace

  /// The handler has started in this task, which is to be cancelled if the call ends first; it may have finished. On
  /// the loop.
  func handlerRuns(_ task: consuming Task<Void, any Error>)

  /// The handler has finished. Called by the handler, on any thread, last.
  func handlerReturned()

  /// Cancels the handler: the call was ended without it. On the loop.
  func cancelHandler()

  /// Sends the one response and success together.
  func respond(_ message: consuming MessageBuffer)

  /// Sets the observer of the call. On the loop, before the handler runs.
  func observe(_ observer: any ServerStreamObserver)

  /// Makes the observer's `sent` be called from now on. On the loop.
  func watchSent()

  /// Ends the call after what was written to `responses`. Only the first end counts.
  func finish(_ status: GRPCStatus)
}

/// Where a handler runs.
@usableFromInline
@frozen
package enum HandlerPlace {
  /// At once, on the loop of the call.
  case loop(any EventLoop)
  /// Elsewhere.
  case executor(any TaskExecutor)
  /// The same, with a context that the handler finds.
  case tracedLoop(any EventLoop, any AnyObject & Sendable)
  case tracedExecutor(any TaskExecutor, any AnyObject & Sendable)
}

/// Observes a call on its event loop. The transport may still be at work and must not be called from here.
@usableFromInline package protocol ServerStreamObserver: AnyObject, Sendable {
  /// A part of the response has been sent. Called after `watchSent()`.
  func sent(_ part: SentPart)

  /// The call is over; `nil` if the whole response was sent. Called last.
  func closed(_ failure: GRPCStatus?)
}

extension ServerCallState {
  @usableFromInline package var logger: Logger { .quiet }
  @usableFromInline package var requestWasCompressed: Bool { false }
}

/// The peer of a connection.
public struct PeerIdentity: Sendable, Hashable {
  /// Such as `ipv4:127.0.0.1:50051`, `ipv6:[::1]:50051`, `unix:/path` or `inprocess`.
  public var address: String
  /// The certificate that the peer proved to own.
  public var certificate: PeerCertificate?

  package init(address: String, certificate: PeerCertificate? = nil) {
    self.address = address
    self.certificate = certificate
  }
}
