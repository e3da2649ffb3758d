import SwitchboardCall

/// Follows a call of a server, and is the context of its handler.
final class ServerCall: CallContext, ServerCallTracer, @unchecked Sendable {
  // Sendable holds because everything that changes is used on the call's loop only.
  private let parts: TelemetryParts
  private let meter: CallMeter?
  private let start: UInt64
  /// The calls that are made for this one, and end with it.
  private let group = Locked(CallGroup())
  private var sentCount = 0
  private var receivedCount = 0

  init(_ parts: TelemetryParts, _ call: ObservedCall, _ meter: CallMeter?) {
    self.parts = parts
    self.meter = meter
    guard parts.givesContext else {
      start = meter == nil ? 0 : parts.clock.now
      super.init(nil, nil, Baggage(), HPACKHeaders(), nil)
      return
    }
    let found = call.headers.isEmpty ? nil : TraceHeaders(call.headers)
    let context = parts.tracer?.newContext(found?.context)
    var span: Span?
    let recorder = parts.tracer.flatMap { tracer in context.map(tracer.records) ?? false ? tracer : nil }
    // Nobody asks how long a call takes that is neither counted nor recorded.
    start = meter != nil || recorder != nil ? parts.clock.now : 0
    if let tracer = recorder, let context {
      let parent = found?.context?.spanID
      let made = Span(
        "Recv.\(call.method.spanName)",
        context,
        parent: parent,
        kind: .server,
        start: start,
        tracer
      )
      made.describe(call.method)
      span = made
    }
    super.init(context, span, found?.baggage ?? Baggage(), call.headers, nil)
  }

  override var servedCall: ServerCall? { self }

  /// Cancels a call that is made for this one when this one ends, at once if it has.
  func add(_ call: any ByteCall, for tracer: AnyObject) {
    if !group.withLock({ $0.add(call, for: tracer) }) { call.cancel(.servedCallEnded) }
  }

  func remove(_ tracer: AnyObject) {
    let call = group.withLock { $0.remove(tracer) }
    // Released here, and not with the lock held.
    _ = call
  }

  var givesContext: Bool { parts.givesContext }
  var wantsMessages: Bool { span != nil && parts.hasMessageEvents }

  func handlerStarts(deadline: ContinuousClock.Instant?) {
    if let deadline, self.deadline == nil { self.deadline = CallDeadline(deadline) }
  }

  func run<Result>(_ body: () -> Result) -> Result {
    if CallContext.current === self { return body() }
    return CallContext.$current.withValue(self) { body() }
  }

  func messageSent(_ byteCount: Int, compressed: Int?) {
    span?.noteMessage("Outbound message", sentCount, byteCount, compressed: compressed)
    sentCount += 1
  }

  func messageReceived(_ byteCount: Int) {
    span?.noteMessage("Inbound message", receivedCount, byteCount)
    receivedCount += 1
  }

  func ended(_ end: ObservedEnd) {
    if meter != nil || span != nil { measure(end) }
    for call in group.withLock({ $0.end() }) { call.cancel(.servedCallEnded) }
  }

  private func measure(_ end: ObservedEnd) {
    let now = parts.clock.now
    let duration = Int(truncatingIfNeeded: now &- start)
    if let meter {
      let exemplar = spanContext?.exemplar(Double(duration) / 1e9, parts.clock.date(of: now))
      meter.callEnded(
        CallMeter.End(
          code: end.status.code,
          duration: duration,
          sentBytes: end.sentPayload,
          receivedBytes: end.receivedPayload,
          exemplar: exemplar
        ),
        whole: nil
      )
    }
    span?.end(end.status, at: now)
  }
}
