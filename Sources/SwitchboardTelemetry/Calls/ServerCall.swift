import SwitchboardCall

/// Follows a call of a server, and is the context of its handler.
final class ServerCall: CallContext, ServerCallTracer, @unchecked Sendable {
  // Sendable because mutable state is locked or used on the call's loop only.
  private let parts: TelemetryParts
  private let counter: LoopCounter
  /// When the call started, as a mark of the clock.
  private let start: UInt64
  /// The calls that the handler makes and that end with this one.
  private let group = Locked(CallGroup())
  private var sentCount = 0
  private var receivedCount = 0

  init(
    _ parts: TelemetryParts,
    _ method: MethodDescriptor,
    _ headers: HPACKHeaders,
    _ traceParent: TraceParentText?,
    _ counter: LoopCounter
  ) {
    self.parts = parts
    self.counter = counter
    let found = headers.isEmpty && traceParent == nil ? nil : TraceHeaders(headers, traceParent)
    let context = parts.tracer?.newContext(found?.context)
    var span: Span?
    // The duration of a call that is not counted is not needed.
    start = counter.isShown ? parts.clock.mark : 0
    if let tracer = parts.tracer, let context, tracer.records(context) {
      let parent = found?.context?.spanID
      let made = Span(
        "Recv.\(method.spanName)",
        context,
        parent: parent,
        kind: .server,
        start: tracer.clock.now,
        tracer
      )
      made.describe(method)
      span = made
    }
    super.init(context, span, found?.baggage ?? Baggage(), headers, nil)
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
  var wantsMessages: Bool { span != nil && parts.hasMessageEvents }

  func handlerStarts(deadline: CallDeadline?) {
    if let deadline, self.deadline == nil { self.deadline = deadline }
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
    if counter.isShown {
      let duration = TelemetryClock.duration(from: start, to: parts.clock.mark)
      let exemplar = parts.clock.exemplar(duration, in: spanContext)
      counter.callEnded(CallMeter.End(end, duration, exemplar), whole: nil)
    }
    if let span { span.end(end.status, at: parts.clock.now) }
    for call in group.withLock({ $0.end() }) { call.cancel(.servedCallEnded) }
  }
}
