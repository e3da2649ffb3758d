/// An observer that follows calls more closely than `CallObserver` lets it: a client's call through all its attempts, and a
/// handler in what it does. It can add headers to attempts, and give handlers a context that their own calls find.
///
/// Transports use tracers only, and wrap every other observer in a `PlainTracer`.
package protocol CallTracing: AnyObject, CallObserver {
  /// What follows the calls of a channel, which are on this loop. Asked once for each channel.
  func channelTracer(target: String, on loop: any EventLoop) -> any ChannelTracer

  /// What follows the calls that a server accepts on this loop. Asked once for each connection.
  func serverTracer(on loop: any EventLoop) -> any ServerTracer
}

/// What has to be known of one call, kept in the call itself: a tracer may follow many calls at once, without an object for
/// each.
@usableFromInline package struct CallStamp: Sendable {
  /// A time of the tracer's.
  package var start: UInt64
  /// Whether the tracer's `made` is to be called.
  package var wantsCall = false
  /// The identities of the call's trace and span; zeros: it has none.
  package var traceHigh: UInt64 = 0
  package var traceLow: UInt64 = 0
  package var span: UInt64 = 0

  package init(start: UInt64 = 0) { self.start = start }
}

extension AttemptTracer {
  /// Adds all headers of the attempt.
  package func writeAllHeaders(_ stamp: CallStamp, _ add: (StaticString, RawSpan) -> Void) {
    if let text = traceParent(stamp) { add("traceparent", text.bytes.span.bytes) }
    if addsHeaders { writeHeaders(stamp, add) }
  }
}

/// Makes what follows each call of a channel.
@usableFromInline package protocol ChannelTracer: AnyObject, Sendable {
  /// The context of the caller's task: what `callMade` would find there, for calls that are made later and elsewhere.
  var context: AnyObject? { get }

  /// A call is about to be made, in the caller's task or, with the `context` of that, elsewhere. Sets the request's tracer
  /// and stamp, and may change more of it.
  func callMade(_ request: inout CallRequest, context: AnyObject?)
}

/// Follows calls of clients through their attempts. After `made`, used on the calls' loop only.
@usableFromInline package protocol ClientCallTracer: AnyObject, Sendable {
  /// The call that may be cancelled. Called if the stamp says so.
  func made(_ call: any ByteCall)

  /// The call may have several attempts. Otherwise it ends with its first. Returns what follows it from then on.
  func mayRepeat(_ method: MethodDescriptor, _ stamp: CallStamp, hedging: Bool) -> any ClientCallTracer

  /// The call had to wait until its channel's name was resolved, and goes on.
  func resolutionWasDelayed()

  /// An attempt starts; this many came before it.
  func attemptStarts(_ method: MethodDescriptor, after previousAttempts: Int) -> any AttemptTracer

  /// The call has ended without an attempt, or has had several. Called at most once, last.
  func ended(_ status: GRPCStatus, _ method: MethodDescriptor, _ stamp: CallStamp)
}

/// Follows calls on one side of a connection, on their loop.
@usableFromInline package protocol CallTracer: AnyObject, Sendable {
  /// Whether to call `messageSent` and `messageReceived`.
  var wantsMessages: Bool { get }

  /// A message was sent, of this size, and of this size on the wire, if it was compressed.
  func messageSent(_ byteCount: Int, compressed: Int?)

  /// A message was received, of this size after decompression.
  func messageReceived(_ byteCount: Int)

  /// The end. Called exactly once for each call, last.
  func ended(_ end: ObservedEnd, _ stamp: CallStamp)
}

/// Follows attempts of clients' calls.
@usableFromInline package protocol AttemptTracer: CallTracer {
  /// The attempt's header `traceparent`, if it has one; apart from the others because most traces have no other.
  func traceParent(_ stamp: CallStamp) -> TraceParentText?

  /// Whether to call `traceParent`.
  var addsTraceParent: Bool { get }

  /// Whether to call `writeHeaders`.
  var addsHeaders: Bool { get }

  /// Adds the other headers of the attempt.
  func writeHeaders(_ stamp: CallStamp, _ add: (StaticString, RawSpan) -> Void)

  /// The attempt had to wait for a server or a connection, and goes on.
  func placementWasDelayed()

  /// A server was chosen, whose calls have these labels in metrics. Returns what follows the attempt from then on.
  func placed(_ labels: [String: String]) -> any AttemptTracer

  /// The transport sends the attempt again, because no server has processed it. Returns what follows it from then on.
  func isSentAgain(_ stamp: CallStamp) -> any AttemptTracer
}

/// Makes what follows each call that a server accepts on a loop. On this loop.
@usableFromInline package protocol ServerTracer: AnyObject {
  /// Whether `callStarted` gets the header `traceparent` apart from the others, as it is.
  var wantsTraceParent: Bool { get }

  /// A call was accepted.
  func callStarted(
    _ method: MethodDescriptor,
    _ headers: HPACKHeaders,
    _ traceParent: TraceParentText?,
    _ stamp: inout CallStamp
  ) -> any ServerCallTracer
}

/// Follows calls of a server.
@usableFromInline package protocol ServerCallTracer: CallTracer {
  /// What handlers and interceptors find as their context.
  var context: (any AnyObject & Sendable)? { get }

  /// When the call's client stops waiting; `nil`: never. Called before the handler starts, if there is a context.
  func handlerStarts(deadline: ContinuousClock.Instant?)
}

extension MethodDescriptor {
  /// The method that tracers see for calls of methods that a server does not have, because clients choose those names.
  package static let unknown = MethodDescriptor(service: "", method: "other", type: .unary)
}
