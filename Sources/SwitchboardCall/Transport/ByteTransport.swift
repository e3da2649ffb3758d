/// The seam below the call model on the client: carries calls whose messages are bytes already.
@usableFromInline package protocol ByteTransport: AnyObject, Sendable {
  /// Where receivers are told of responses. A caller that prefers this executor pays no hop.
  var eventLoop: any EventLoop { get }

  /// What it connects to, such as `localhost:50051`.
  var host: String { get }

  /// How much of a stream's messages may lie unread, each way, before their writer waits: their bytes and about a hundred
  /// more for each.
  var streamBufferSize: Int { get }

  /// A transport to another target, otherwise like this one and on the same event loop: where interceptors send a
  /// call elsewhere.
  func sibling(for host: String) throws(GRPCStatus) -> any ByteTransport

  /// Prepares a call; nothing is sent before `start`. Whatever goes wrong reaches the receiver's `close`.
  func makeCall(_ request: consuming CallRequest, receiver: any ResponseReceiver) -> any ByteCall

  /// Says that no more calls will be made: the transport ends once those under way have.
  func retire()

  /// Ends the transport: calls under way may finish within the grace period, new ones fail.
  func shutDown(grace: Duration) async
}

extension ByteTransport {
  /// One that has no address.
  @usableFromInline package var host: String { "" }

  /// 256 KiB.
  @usableFromInline package var streamBufferSize: Int { 256 * 1024 }

  /// Itself, for its own host; it reaches no other.
  @usableFromInline package func sibling(for host: String) throws(GRPCStatus) -> any ByteTransport {
    if host == self.host { return self }
    throw GRPCStatus(code: .unimplemented, message: "the transport cannot reach another target than its own")
  }
}

/// One call on a transport. Its methods may be called from any thread.
@usableFromInline package protocol ByteCall: AnyObject, Sendable {
  /// Sends the call on its way. To be called once.
  func start()

  /// Called before the caller is suspended: may look for a moment, again and again, whether what it waits for is there.
  func look(for isThere: () -> Bool)

  /// Ends the call with this status, unless it has ended. Before `start`, it ends as soon as it starts.
  func cancel(_ status: GRPCStatus)
}

extension ByteCall {
  @usableFromInline package func look(for isThere: () -> Bool) {}
}

/// What a transport needs to know to start a call.
@usableFromInline package struct CallRequest: Sendable {
  /// What the caller sends.
  @usableFromInline package enum Body: Sendable {
    /// The one message of a unary or server-streaming call.
    case message(MessageBuffer)
    /// Messages as the caller writes them.
    case stream(MessagePipe)
  }

  /// The method to call.
  @usableFromInline package var method: MethodDescriptor
  /// The caller's choices; `nil` is the same as `CallOptions()`, and cheaper.
  @usableFromInline package var options: CallOptions?
  /// When the call must end. The engine sets it if it is `nil` and the options have a timeout.
  package var deadline: CallDeadline?
  /// The messages to send.
  @usableFromInline package var body: Body
  /// Where streamed responses go. `nil`: the one response is lent to the receiver.
  @usableFromInline package var responses: MessagePipe?
  /// How often the call was made before, by a policy of retries: the server is told.
  @usableFromInline package var previousAttempts = 0
  /// How the messages are written.
  @usableFromInline package var contentSubtype: ContentSubtype

  /// Without `responses`, the call takes one response.
  @inlinable
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

/// When a call must end. An object, because the layout of the standard library's instants is known only when the program
/// runs, and so would be that of each request that contains one.
package final class CallDeadline: Sendable {
  package let time: ContinuousClock.Instant

  package init(_ time: ContinuousClock.Instant) { self.time = time }

  /// How long the call may still take.
  package var timeLeft: Duration { time - .now }
}

/// What is told of a call's responses, on the transport's event loop.
@usableFromInline package protocol ResponseReceiver: AnyObject, Sendable {
  /// Whether metadata and trailers are wanted: `false` saves making them.
  var wantsMetadata: Bool { get }

  /// Whether to tell of parts of the request that have left. Asked when the call starts.
  var wantsSent: Bool { get }

  /// The metadata of a response, before its first message. Not told when the call fails before it.
  func receive(headers: HPACKHeaders)

  /// A part of the request has left. Told possibly from within the transport's work: nothing may be asked of the
  /// transport from here.
  func sent(_ part: SentPart)

  /// The one response, which comes next, was compressed.
  func responseWasCompressed()

  /// The one response of a call that does not stream responses, lent for the length of this call. Told at
  /// most once.
  func receive(message: RawSpan)

  /// The end, told exactly once and last.
  func close(_ status: GRPCStatus, trailers: HPACKHeaders)
}

extension ResponseReceiver {
  @usableFromInline package var wantsSent: Bool { wantsMetadata }
  @usableFromInline package func sent(_ part: SentPart) {}
  @usableFromInline package func responseWasCompressed() {}
}
