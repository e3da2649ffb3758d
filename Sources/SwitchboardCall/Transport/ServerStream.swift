/// What a handler knows of its call, and may set on it. Its methods may be called from any thread.
@usableFromInline package protocol ServerCallState: AnyObject, Sendable {
  /// The loop of the call's connection.
  var eventLoop: any EventLoop { get }
  /// The metadata that the client sent.
  var headers: HPACKHeaders { get }
  /// When the client stops waiting.
  var deadline: ContinuousClock.Instant? { get }
  /// Who makes the call.
  var peer: PeerIdentity { get }
  /// Whether the call has ended, so that nobody waits for an answer.
  var isCancelled: Bool { get }

  /// Whether the request of a method that does not stream them came compressed.
  var requestWasCompressed: Bool { get }

  /// Metadata to send before the first message. Too late once the headers have left: then it is ignored.
  func setHeaders(_ headers: HPACKHeaders)
  /// Sends the metadata now, rather than with the first message.
  func sendHeaders()
  /// Metadata to send with the status.
  func setTrailers(_ trailers: HPACKHeaders)

  /// Compresses what is sent from now on, if the client takes it so. Too late once the headers have left.
  func setCompression(_ compression: MessageCompression)

  /// What interceptors and the handler of the call share.
  var userInfo: UserInfo { get set }

  /// Where the interceptors and the handler log to.
  var logger: Logger { get }
}

/// The seam below the call model on the server: one call that a transport has accepted and routed.
///
/// Its methods may be called from any thread.
@usableFromInline package protocol ServerStream: ServerCallState {
  /// Request messages, where the method streams them.
  var requests: MessagePipe { get }
  /// Response messages; opened by the first use, which is what sends the response headers.
  var responses: MessagePipe { get }

  /// Runs the handler where the server was told to; by default at once, on the loop. The task is
  /// cancelled when the call ends before the handler does.
  ///
  /// The handler's last act is `handlerReturned()`: a closure around it that did so would cost each call one more
  /// change of executors.
  func run(_ handler: nonisolated(nonsending) @escaping @Sendable () async -> Void)

  /// The handler that `run` was given is at its end. From the handler, on whichever thread it is.
  func handlerReturned()

  /// Sends the one response and then success, together.
  func respond(_ message: MessageBuffer)

  /// Names who is told what becomes of the call. On the loop, before the handler runs.
  func observe(_ observer: any ServerStreamObserver)

  /// Has the observer told of parts of the response that leave from now on. On the loop.
  func watchSent()

  /// Ends the call after what was written to `responses`. Only the first end counts.
  func finish(_ status: GRPCStatus)
}

/// What is told of a call on its event loop, possibly from within the transport's work: nothing may be asked of
/// the transport from here.
@usableFromInline package protocol ServerStreamObserver: AnyObject, Sendable {
  /// A part of the response has left. Told from `watchSent()` on.
  func sent(_ part: SentPart)

  /// The call is over: `nil` when the whole response has left. Told last.
  func closed(_ failure: GRPCStatus?)
}

extension ServerCallState {
  @usableFromInline package var logger: Logger { .quiet }
  @usableFromInline package var requestWasCompressed: Bool { false }
}

/// Who is at the other end of a connection.
public struct PeerIdentity: Sendable, Hashable {
  /// `ipv4:127.0.0.1:50051`, `ipv6:[::1]:50051`, `unix:/path`, or `inprocess`.
  public var address: String
  /// The certificate that the peer proved to own.
  public var certificate: PeerCertificate?

  /// A peer without a certificate, unless one is given.
  package init(address: String, certificate: PeerCertificate? = nil) {
    self.address = address
    self.certificate = certificate
  }
}
