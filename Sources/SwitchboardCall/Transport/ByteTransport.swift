/// The interface between calls and transports on the client: messages are bytes here.
@usableFromInline package protocol ByteTransport: AnyObject, Sendable {
  /// Where receivers are called. A caller that prefers this executor does not change threads.
  var eventLoop: any EventLoop { get }

  /// The target, such as `localhost:50051`.
  var host: String { get }

  /// How many unread bytes of messages a stream holds in each direction before its writer waits, plus about a hundred
  /// for each message.
  var streamBufferSize: Int { get }

  /// A transport to another target with the same settings, on the same event loop, for calls that interceptors
  /// redirect.
  func sibling(for host: String) throws(GRPCStatus) -> any ByteTransport

  /// The service config that comes with the name. `nil`: none can.
  var resolvedConfig: ResolvedConfig? { get }

  /// Resolves the name and connects, and does not wait for a call.
  func connect()

  /// Prepares a call; nothing is sent before `start`. Failures reach the receiver's `close`.
  func makeCall(_ request: consuming CallRequest, receiver: any ResponseReceiver) -> any ByteCall

  /// No more calls will be made: the transport ends when those in flight have.
  func retire()

  /// Ends the transport: calls in flight may finish within `grace`; new ones fail.
  func shutDown(grace: Duration) async
}

extension ByteTransport {
  /// The empty string: a transport without an address.
  @usableFromInline package var host: String { "" }

  @usableFromInline package var streamBufferSize: Int { 256 * 1024 }

  @usableFromInline package var resolvedConfig: ResolvedConfig? { nil }

  @usableFromInline package func connect() {}

  /// Itself, for its own host; other hosts are unreachable.
  @usableFromInline package func sibling(for host: String) throws(GRPCStatus) -> any ByteTransport {
    if host == self.host { return self }
    throw GRPCStatus(code: .unimplemented, message: "the transport can only reach its own target")
  }
}

/// One call on a transport. Its methods may be called from any thread.
@usableFromInline package protocol ByteCall: AnyObject, Sendable {
  /// Starts the call. Must be called once.
  func start()

  /// Called before the caller suspends: may poll `isThere` for a moment.
  func look(for isThere: () -> Bool)

  /// Ends the call with `status`, unless it has ended. A call that has not started ends when it starts.
  func cancel(_ status: GRPCStatus)
}

extension ByteCall {
  @usableFromInline package func look(for isThere: () -> Bool) {}
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
  /// The caller's options; `nil` equals `CallOptions()`, and is cheaper.
  @usableFromInline package var options: CallOptions?
  /// When the call must end. The engine sets it if it is `nil` and the options have a timeout.
  package var deadline: CallDeadline?
  @usableFromInline package var body: Body
  /// Where streamed responses go. `nil`: the receiver gets the one response.
  @usableFromInline package var responses: MessagePipe?
  /// How many attempts were made before; the server is informed.
  @usableFromInline package var previousAttempts = 0
  /// The servers that attempts of the call were sent to, so that a repetition can prefer another. `nil`: it is not
  /// repeated.
  package var servers: AttemptedServers?
  /// Follows the call, if the channel's observer traces.
  package var tracer: (any ClientCallTracer)?
  /// What the tracer has to know of the call.
  package var stamp = CallStamp()
  @usableFromInline package var contentSubtype: ContentSubtype

  /// Without `responses`, the call has one response. Not inlined: the compiler then makes the request where its user
  /// wants it, instead of copying it there.
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
  /// Tells the tracer that the call has ended, if not with its only attempt.
  func traceEnd(_ status: GRPCStatus) { tracer?.ended(status, method, stamp) }
}

/// The servers that the attempts of one call were sent to, as the transport knows them.
package final class AttemptedServers: Sendable {
  private let servers = Locked<[ObjectIdentifier]>([])

  init() {}

  package func add(_ server: ObjectIdentifier) { servers.withLock { $0.append(server) } }

  package func contains(_ server: ObjectIdentifier) -> Bool { servers.withLock { $0.contains(server) } }
}

/// When a call must end. An object, because the layout of the standard library's instants is known only at run time, and
/// so would be that of each request that contains one.
package final class CallDeadline: Sendable {
  package let time: ContinuousClock.Instant

  package init(_ time: ContinuousClock.Instant) { self.time = time }

  /// How long the call may still take.
  package var timeLeft: Duration { time - .now }
}

/// Receives a call's responses, on the transport's event loop.
@usableFromInline package protocol ResponseReceiver: AnyObject, Sendable {
  /// Whether metadata and trailers are wanted; `false` saves making them.
  var wantsMetadata: Bool { get }

  /// Whether to call `sent`. Read when the call starts.
  var wantsSent: Bool { get }

  /// The metadata before the first message. Not called if the call fails first.
  func receive(headers: consuming HPACKHeaders)

  /// A part of the request has been sent. The transport may still be at work and must not be called from here.
  func sent(_ part: SentPart)

  /// The one response, which comes next, was compressed.
  func responseWasCompressed()

  /// The one response of a call that does not stream responses, valid only during this call. Called at most once.
  func receive(message: RawSpan)

  /// The end of the call; called exactly once, last.
  func close(_ status: consuming GRPCStatus, trailers: consuming HPACKHeaders)
}

extension ResponseReceiver {
  @usableFromInline package var wantsSent: Bool { wantsMetadata }
  @usableFromInline package func sent(_ part: SentPart) {}
  @usableFromInline package func responseWasCompressed() {}
}
