/// The load that a call reports, as an object of the module that encodes it.
@usableFromInline package typealias CallLoad = AnyObject & Sendable

/// A handler's view of its call. Usable from any thread.
@usableFromInline package protocol ServerCallState: AnyObject, Sendable {
  /// The loop of the call's connection.
  var eventLoop: any EventLoop { get }
  var method: MethodDescriptor { get }
  var headers: HPACKHeaders { get }
  /// When the client stops waiting.
  var deadline: CallDeadline? { get }
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

  /// When the server shuts down.
  var shutdown: ShutdownSignal { get }

  /// The status of the call for an error that its handler or an interceptor threw. An error that determines none is
  /// logged, and the client learns as much of it as the server's options say.
  func status(of error: any Error) -> GRPCStatus

  /// The same for the error of a response's encoder, whose status is always `INTERNAL`. What the decoder of a request says is
  /// about the client's own bytes; what an encoder says is about the server's data.
  func status(ofEncoding error: any Error) -> GRPCStatus
}

/// The server's interface between calls and transports: one accepted and routed call. Usable from any thread.
@usableFromInline package protocol ServerStream: ServerCallState {
  /// Request messages, if the method streams them.
  var requests: MessagePipe { get }
  /// Response messages. The first access sends the response headers.
  var responses: MessagePipe { get }

  /// Adds the handler's metadata to what guards have set on the call itself. Ignored once headers have been sent.
  func addHeaders(_ headers: HPACKHeaders)
  /// The same for the metadata to send with the status.
  func addTrailers(_ trailers: HPACKHeaders)

  /// Where the handler runs, according to the server's options. Called once, on the loop, before the handler starts.
  func executorForHandler() -> HandlerExecutor

  /// The context of the tasks of the call, if it has one.
  var taskContext: (any ContextSource)? { get }

  /// The handler gets these headers, which interceptors have changed, and so does the context. Called on the loop, before.
  func handlerReceives(_ headers: HPACKHeaders)

  /// The handler has started in this task, and may have finished. The stream cancels the task if the call ends first.
  /// Called on the loop.
  func handlerRuns(_ task: consuming Task<Void, any Error>)

  /// The handler has finished. Called by the handler, on any thread, last.
  func handlerReturned()

  /// Something may have been done too late to have an effect, unless the call ended without its handler. Called on any thread.
  func wasTooLate(_ action: LateAction)

  /// The call fails because of what one of its interceptors did, which the log says. Called on the loop.
  func interceptorsFailed(_ status: GRPCStatus, _ interceptors: [AnyObject])

  /// Cancels the handler, because the call has ended without it. Called on the loop.
  func cancelHandler()

  /// Sends the one response and success together.
  func respond(_ message: consuming MessageBuffer)

  /// Sets the observer of the call. If the call is over, the observer is notified at once. If `sent` is set, it is also
  /// notified of parts that are sent from now on. Called on the loop.
  func observe(_ observer: any ServerStreamObserver, sent: Bool)

  /// Ends the call after the messages written to `responses`. Later ends are ignored.
  func finish(_ status: GRPCStatus)
}

/// What a handler, or a task that has outlived it, did when it could no longer have an effect.
@usableFromInline
package enum LateAction: Sendable {
  /// `setInitialMetadata` and `setCompression`, after they were sent.
  case initialMetadata, compression
  /// `setTrailers`, after the call had ended.
  case trailers
  /// A message was sent or read, after the handler had returned.
  case sent, read
}

/// Where a handler runs.
@usableFromInline
@frozen
package enum HandlerExecutor {
  /// At once, on the loop of the call.
  case loop(any EventLoop)
  /// On another executor.
  case executor(any TaskExecutor)
}

/// Observes a call on its event loop. Must not call the transport, which may be in the middle of its work.
@usableFromInline package protocol ServerStreamObserver: AnyObject, Sendable {
  /// Those of the call's interceptors of which one has the call, because neither the transport nor the handler has it; none
  /// otherwise.
  var holders: [AnyObject] { get }

  /// A part of the response has been sent.
  func sent(_ part: SentPart)

  /// The call is over; `nil` if the whole response was sent. Called last.
  func closed(_ failure: GRPCStatus?)
}

/// The peer of a connection.
public struct PeerIdentity: Sendable, Hashable {
  /// The address, such as `ipv4:127.0.0.1:50051`, `ipv6:[::1]:50051`, `unix:/path` or `inprocess`.
  public var address: String
  /// The certificate of the peer, whose key it has proved to own.
  public var certificate: PeerCertificate?

  package init(address: String, certificate: PeerCertificate? = nil) {
    self.address = address
    self.certificate = certificate
  }
}
