/// A tracer's state for one call, which the call stores, so that one tracer can follow many calls.
@usableFromInline package struct CallStamp: Sendable {
  /// The start of the call, on the tracer's own clock.
  package var start: UInt64
  /// Whether to call the tracer's `made`.
  package var wantsCall = false
  /// Whether to call the `ended` of the attempts of a client's call, or that of a server's call.
  @usableFromInline package var wantsEnd = true
  /// Whether a client's attempts add `identity` and no other header, or a server's call reports no messages.
  @usableFromInline package var isLean = false
  /// Whether a server's call has a `StageWatch`.
  package var isWatched = false
  /// Whether a tracer follows the call. Otherwise the stamp says all that is done for it, and no reference is counted.
  @inlinable package var needsTracer: Bool { wantsEnd || !isLean }
  package var identity = SpanIdentity()

  package init(start: UInt64 = 0) { self.start = start }
}

/// Assigns tracers to the calls of a channel.
@usableFromInline package protocol ChannelTracer: AnyObject, Sendable {
  /// The context of the caller's task, for a call that is made later, in another task.
  var context: (any ContextSource)? { get }

  /// Adds to metadata what a call inherits from the caller with this context. Returns the deadline that it inherits.
  func passOn(_ context: any ContextSource, to metadata: inout HPACKHeaders) -> CallDeadline?

  /// A call is about to be made, in the caller's task, and inherits from it now. Sets the request's stamp, and its tracer
  /// if it needs one.
  func callMade(_ request: inout CallRequest)

  /// The same for a call that has inherited already, from a caller with this context.
  func callMade(_ request: inout CallRequest, for context: (any ContextSource)?)
}

/// Follows the calls of a client through their attempts. After `made`, it is used only on the loop of the calls.
@usableFromInline package protocol ClientCallTracer: AnyObject, Sendable {
  /// Receives the call, so that the tracer can cancel it. Called if the stamp's `wantsCall` is set.
  func made(_ call: any ByteCall)

  /// The call of this request may make several attempts; otherwise it ends with the first. Returns the tracer from then on.
  func mayRepeat(_ request: CallRequest, hedging: Bool) -> any ClientCallTracer

  /// The call continues, after it had to wait until its channel's name was resolved.
  func resolutionWasDelayed()

  /// An attempt starts, after `previousAttempts` others. Returns its tracer. `nil` if this one follows it: then nothing is
  /// reported but its end, unless `tracer` is called, and no reference is counted.
  func attemptStarts(_ method: MethodDescriptor, after previousAttempts: Int) -> (any AttemptTracer)?

  /// The tracer from then on of an attempt that this one follows.
  func tracer(ofAttempt method: MethodDescriptor) -> any AttemptTracer

  /// An attempt has ended that this one follows, at this server, if it had one.
  func attemptEnded(
    _ end: ObservedEnd,
    _ method: MethodDescriptor,
    _ stamp: CallStamp,
    at server: @autoclosure () -> String,
    _ headers: @autoclosure () -> HPACKHeaders?
  )

  /// The call has ended, without an attempt or after `mayRepeat`. Called at most once, last.
  func ended(_ status: GRPCStatus, _ method: MethodDescriptor, _ stamp: CallStamp)
}

/// Follows calls on one side of a connection, on their loop: those of a server, or attempts of a client.
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
  func serverPicked(_ name: String, _ labels: [String: String]) -> any AttemptTracer

  /// The transport sends the attempt again, because no server has processed it. Returns the tracer for the repetition.
  func isSentAgain(_ stamp: CallStamp) -> any AttemptTracer
}
