import SwitchboardCall

/// Follows a call of a server, and is the context of its handler.
final class ServerCall: CallContext, ServerCallTracer, @unchecked Sendable {
  // Sendable because mutable state is locked or used on the call's loop only.
  private let known: ServerMethod
  /// When the call started, as a mark of the clock.
  private let start: UInt64
  /// The calls that the handler makes and that end with this one.
  private let group = Locked(CallGroup())
  private var sentCount = 0
  private var receivedCount = 0

  /// `parent` and `baggage` are those that `headers` name.
  init(
    _ known: ServerMethod,
    _ method: MethodDescriptor,
    _ headers: HPACKHeaders,
    _ parent: SpanContext?,
    _ baggage: Baggage
  ) {
    self.known = known
    let tracer = known.parts.tracer
    let context = tracer?.newContext(parent)
    // The duration of a call that is not counted is not needed.
    start = known.counter.isShown ? known.parts.clock.mark : 0
    var span: Span?
    if let context, let tracer, tracer.records(context) {
      span = Self.makeSpan(method, context, parent, tracer)
    }
    super.init(context, span, baggage, headers, nil)
  }

  private static func makeSpan(
    _ method: MethodDescriptor,
    _ context: SpanContext,
    _ parent: SpanContext?,
    _ tracer: Tracer
  ) -> Span {
    let (name, start) = ("Recv.\(method.spanName)", tracer.clock.now)
    let span = Span(name, context, parent: parent?.spanID, kind: .server, start: start, tracer)
    span.describe(method)
    return span
  }

  override var servedCall: ServerCall? { self }

  /// Cancels `call`, which the handler makes, when this call ends, or at once if it has ended.
  func add(_ call: any ByteCall, for tracer: AnyObject) {
    if !group.withLock({ $0.add(call, for: tracer) }) { call.cancel(.servedCallEnded) }
  }

  func remove(_ tracer: AnyObject) {
    let call = group.withLock { $0.remove(tracer) }
    // Releases the call here, not while the lock is held.
    _ = call
  }

  var context: (any AnyObject & Sendable)? { self }
  var wantsMessages: Bool { span != nil && known.parts.hasMessageEvents }

  func handlerStarts(deadline: CallDeadline) {
    if self.deadline == nil { self.deadline = deadline }
  }

  func messageSent(_ byteCount: Int, compressed: Int?) {
    span?.noteMessage("Outbound message", sentCount, byteCount, compressed: compressed)
    sentCount += 1
  }

  func messageReceived(_ byteCount: Int) {
    span?.noteMessage("Inbound message", receivedCount, byteCount)
    receivedCount += 1
  }

  func ended(_ end: ObservedEnd, _ stamp: CallStamp) {
    let clock = known.parts.clock
    if known.counter.isShown {
      let duration = TelemetryClock.duration(from: start, to: clock.mark)
      let exemplar = clock.exemplar(duration, in: spanContext)
      known.counter.callEnded(CallMeter.End(end, duration, exemplar), whole: nil)
    }
    if let span { span.end(end.status, at: clock.now) }
    for call in group.withLock({ $0.end() }) { call.cancel(.servedCallEnded) }
  }
}
