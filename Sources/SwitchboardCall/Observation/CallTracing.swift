/// An observer that follows each attempt of a client's call, and the work of a handler. It can add headers to attempts,
/// and give handlers a context that their calls inherit. Transports wrap any other observer in a `PlainTracer`.
package protocol CallTracing: AnyObject, CallObserver {
  /// Creates the tracer of a channel whose calls run on this loop. The target has a scheme.
  func channelTracer(target: String, on loop: any EventLoop) -> any ChannelTracer

  /// Creates the tracer of calls that a server accepts on this loop. Called once for each connection.
  func serverTracer(on loop: any EventLoop) -> any ServerTracer
}

/// A tracer's state for one call, which the call stores, so that one tracer can follow many calls.
@usableFromInline package struct CallStamp: Sendable {
  /// The start of the call, on the tracer's own clock.
  package var start: UInt64
  /// Whether to call the tracer's `made`.
  package var wantsCall = false
  /// Whether to call the `ended` of the attempts of a client's call, or that of a server's call.
  package var wantsEnd = true
  /// Whether a client's attempts add `identity` and no other header, or a server's call reports no messages.
  package var isLean = false
  /// Whether a tracer follows the call. Otherwise the stamp says all that is done for it, and no reference is counted.
  package var needsTracer: Bool { wantsEnd || !isLean }
  package var identity = SpanIdentity()

  package init(start: UInt64 = 0) { self.start = start }
}

/// Assigns tracers to the calls of a channel.
@usableFromInline package protocol ChannelTracer: AnyObject, Sendable {
  /// The context of the caller's task, for a call that is made later, in another task: `callMade` then receives it.
  var context: AnyObject? { get }

  /// A call is about to be made: in the caller's task, or elsewhere with its `context`. Sets the request's stamp, and its
  /// tracer if it needs one.
  func callMade(_ request: inout CallRequest, context: AnyObject?)
}

/// Follows the calls of a client through their attempts. After `made`, it is used only on the loop of the calls.
@usableFromInline package protocol ClientCallTracer: AnyObject, Sendable {
  /// Receives the call, so that the tracer can cancel it. Called if the stamp's `wantsCall` is set.
  func made(_ call: any ByteCall)

  /// The call may make several attempts; otherwise it ends with the first. Returns the tracer from then on.
  func mayRepeat(_ method: MethodDescriptor, _ stamp: CallStamp, hedging: Bool) -> any ClientCallTracer

  /// The call continues, after it had to wait until its channel's name was resolved.
  func resolutionWasDelayed()

  /// An attempt starts, after `previousAttempts` others.
  func attemptStarts(_ method: MethodDescriptor, after previousAttempts: Int) -> any AttemptTracer

  /// The call has ended, without an attempt or after `mayRepeat`. Called at most once, last.
  func ended(_ status: GRPCStatus, _ method: MethodDescriptor, _ stamp: CallStamp)
}

/// Follows calls on one side of a connection, on their loop.
@usableFromInline package protocol CallTracer: AnyObject, Sendable {
  /// Whether to call `messageSent` and `messageReceived`.
  var wantsMessages: Bool { get }

  /// A message of `byteCount` bytes was sent; `compressed` is its size on the wire, if it was compressed.
  func messageSent(_ byteCount: Int, compressed: Int?)

  /// A message was received; `byteCount` is its size after decompression.
  func messageReceived(_ byteCount: Int)

  /// A call has ended. Called exactly once for each call, last.
  func ended(_ end: ObservedEnd, _ stamp: CallStamp)
}

/// Follows the attempts of a client's calls.
@usableFromInline package protocol AttemptTracer: CallTracer {
  /// What the attempt's `traceparent` says, if it has one. It is separate because most traces add no other header.
  func traceParent(_ stamp: CallStamp) -> SpanIdentity?

  /// Whether to call `writeHeaders`.
  var addsHeaders: Bool { get }

  /// Adds the other headers of the attempt.
  func writeHeaders(_ stamp: CallStamp, _ add: (StaticString, RawSpan) -> Void)

  /// The attempt continues, after it had to wait for a server or a connection.
  func pickWasDelayed()

  /// A server was chosen, whose calls have these labels in metrics. Returns what follows the attempt from then on.
  func serverPicked(_ labels: [String: String]) -> any AttemptTracer

  /// The transport sends the attempt again, because no server has processed it. Returns the tracer for the repetition.
  func isSentAgain(_ stamp: CallStamp) -> any AttemptTracer
}

/// Creates the tracers of calls that a server accepts on one loop, and is otherwise used only on this loop. Makes the
/// contexts of calls that have no tracer.
@usableFromInline package protocol ServerTracer: ContextMaker {
  /// Whether the calls have a context. If so, `callStarted` receives `traceparent` apart from the headers.
  var givesContext: Bool { get }

  /// A call was accepted. Calls with the same number have the same headers. Returns its tracer, if it needs one.
  func callStarted(
    _ method: @autoclosure () -> MethodDescriptor,
    _ headers: @autoclosure () -> HPACKHeaders,
    number: Int?,
    _ parent: SpanIdentity,
    _ stamp: inout CallStamp
  ) -> (any ServerCallTracer)?
}

/// Follows calls of a server. The context that it makes is the tracer itself, or one more.
@usableFromInline package protocol ServerCallTracer: CallTracer, ContextMaker {}

/// Makes the context of a handler and of interceptors, when it is first needed, on any thread.
@usableFromInline package protocol ContextMaker: AnyObject {
  func makeContext(_ headers: HPACKHeaders, _ parent: SpanIdentity, _ stamp: CallStamp, _ end: CallDeadline?)
    -> any ServerCallTracer & ContextSource
}

extension MethodDescriptor {
  /// The method that tracers see instead of methods that a server does not have, whose names are chosen by clients.
  package static let unknown = MethodDescriptor(service: "", method: "other", type: .unary)
}
