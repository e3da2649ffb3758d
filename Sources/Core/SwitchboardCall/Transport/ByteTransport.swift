/// The client's interface between calls and transports. Messages are bytes at this level.
@usableFromInline package protocol ByteTransport: AnyObject, Sendable {
  /// The loop on which receivers are called. A caller that prefers this executor does not change threads.
  var eventLoop: any EventLoop { get }

  /// The target, such as `localhost:50051`; empty for a transport without an address.
  var host: String { get }

  /// How many unread bytes of messages a stream holds in each direction before its writer waits. Each message counts
  /// about a hundred bytes more than its length.
  var streamBufferSize: Int { get }

  /// A transport to another target with the same settings, on the same loop, for calls that interceptors redirect.
  func sibling(for host: String) throws(GRPCStatus) -> any ByteTransport

  /// The service config from the resolution of the name. `nil` means that it cannot provide one.
  var resolvedConfig: ResolvedConfig? { get }

  /// Resolves the name and connects now instead of with the first call.
  func connect()

  /// Prepares a call; nothing is sent before `start`. Failures are reported to the receiver's `close`.
  func makeCall(_ request: consuming CallRequest, receiver: any ResponseReceiver) -> any ByteCall

  /// Ends the transport when the calls in flight have ended. No more calls will be made.
  func retire()

  /// Ends the transport: calls in flight may finish within `grace`; new ones fail.
  func shutDown(grace: Duration) async
}

extension ByteTransport {
  /// Returns the transport itself for its own host; other hosts are unreachable.
  @usableFromInline package func sibling(for host: String) throws(GRPCStatus) -> any ByteTransport {
    if host == self.host { return self }
    throw GRPCStatus(code: .unimplemented, message: "the transport can only reach its own target")
  }
}

/// One call on a transport. Its methods may be called from any thread.
@usableFromInline package protocol ByteCall: AnyObject, Sendable {
  /// Starts the call. Must be called once.
  func start()

  /// Polls `isReady` for a moment, if that is worthwhile. Called before the caller suspends.
  func poll(until isReady: () -> Bool)

  /// Ends the call with `status`, unless it has ended. A call that has not started ends when it starts.
  func cancel(_ status: GRPCStatus)
}

/// What a transport needs to start a call.
@usableFromInline package struct CallRequest: Sendable {
  @usableFromInline package enum Body: Sendable {
    /// The one message of a unary or server-streaming call.
    case message(MessageBuffer)
    /// Messages as the caller writes them.
    case stream(MessagePipe)
  }

  @usableFromInline package var method: MethodDescriptor
  /// The caller's options. `nil` means the same as `CallOptions()`, and is cheaper.
  @usableFromInline package var options: CallOptions?
  /// When the call must end. The engine sets it if it is `nil` and the options have a timeout.
  package var deadline: CallDeadline?
  @usableFromInline package var body: Body
  /// Receives streamed responses. `nil` means that the receiver gets the one response.
  @usableFromInline package var responses: MessagePipe?
  /// The number of previous attempts, which the server is informed of.
  @usableFromInline package var previousAttempts = 0
  /// The call's route and the servers of its attempts. `nil` for a call that has neither.
  package var placement: CallPlacement?
  /// Follows the call, if the channel's observer traces.
  package var tracer: (any ClientCallTracer)?
  /// The tracer's state for the call.
  package var stamp = CallStamp()
  @usableFromInline package var contentSubtype: ContentSubtype

  /// Without `responses`, the call has one response. Not inlined, so that the compiler creates the request in its final
  /// place instead of copying it there.
  @inline(never)
  package init(
    method: MethodDescriptor,
    options: CallOptions?,
    body: Body,
    responses: MessagePipe? = nil,
    contentSubtype: ContentSubtype = .unnamed
  ) {
    self.method = method
    self.options = options
    self.body = body
    self.responses = responses
    self.contentSubtype = contentSubtype
  }
}

extension CallRequest {
  /// Reports to the tracer the end of a call that made no attempt, or may have made several.
  func traceEnd(_ status: GRPCStatus) { tracer?.ended(status, method, stamp) }
}

/// What limits the choice of a server for a call.
package enum CallPlacement: Sendable {
  case route(CallRoute)
  /// The attempts of a call that may be made again.
  case attempts(AttemptedServers)
}

extension CallRequest {
  /// The servers of the call's attempts, so that a repetition can prefer another. `nil` for a call without repetition.
  package var servers: AttemptedServers? {
    if case .attempts(let servers) = placement { servers } else { nil }
  }

  /// What the channel's resolver has decided about the call.
  package var route: CallRoute? {
    switch placement {
    case .route(let route): route
    case .attempts(let servers): servers.route
    case nil: nil
    }
  }
}

/// The servers that the attempts of one call were sent to, as the transport identifies them.
package final class AttemptedServers: Sendable {
  /// The call's, which all attempts have.
  fileprivate let route: CallRoute?
  private let servers = Locked<[ObjectIdentifier]>([])

  init(_ route: CallRoute?) { self.route = route }

  package func add(_ server: ObjectIdentifier) { servers.withLock { $0.append(server) } }

  package func contains(_ server: ObjectIdentifier) -> Bool { servers.withLock { $0.contains(server) } }
}

/// Decodes the one response of a call, on any thread. Returns what receives it, on the loop.
@usableFromInline package typealias ResponseDecoder = @Sendable (RawSpan) -> @Sendable () -> Void

/// Receives a call's responses, on the transport's event loop.
@usableFromInline package protocol ResponseReceiver: AnyObject, Sendable {
  /// Whether the receiver uses metadata and trailers. If not, the transport need not create them.
  var wantsMetadata: Bool { get }

  /// Whether to call `sent`. Read when the call starts.
  var wantsSent: Bool { get }

  /// The metadata before the first message. Not called if the call fails first.
  func receive(headers: consuming HPACKHeaders)

  /// A part of the request has been sent. Must not call the transport, which may be in the middle of its work.
  func sent(_ part: SentPart)

  /// The one response, which is delivered next, was compressed.
  func responseWasCompressed()

  /// The one response of a call that does not stream responses, valid until this method returns. Called at most once.
  func receive(message: RawSpan)

  /// What decodes this response on another thread instead, if a loop should not.
  func decoder(for message: RawSpan) -> ResponseDecoder?

  /// The end of the call; called exactly once, last.
  func close(_ status: consuming GRPCStatus, trailers: consuming HPACKHeaders)
}
