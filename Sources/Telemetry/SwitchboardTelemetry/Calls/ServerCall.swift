// unsafe: what follows a call is confined to the call's loop

import SwitchboardCall
import Synchronization

/// Follows a call of a server, and is the context of its handler.
final class ServerCall: CallContext, CallTracer, @unchecked Sendable {
  // Sendable because mutable state is locked or used on the call's loop only.
  private let known: ServerMethod
  /// When the call started, as a mark of the clock.
  private let start: UInt64
  private let peer: String
  let timeline: CallTimeline?
  /// The calls that the handler makes and that end with this one.
  private let group = Locked(CallGroup())
  /// Whether there has been any: most calls do without the lock.
  private let hasGroup = Atomic(false)
  private let isOver = Atomic(false)
  private var sentCount = 0
  private var receivedCount = 0
  /// The metadata that arrived, and what interceptors have made of it.
  private let arrived: HPACKHeaders
  private let changed = RareValue<Changed>()

  private struct Changed: Sendable {
    let headers: HPACKHeaders
    let baggage: Baggage
  }

  /// Whether it is only the context, beside a tracer that follows the call.
  private let isFollowed: Bool

  /// `parent` and `rare` are what `headers` say.
  init(
    _ known: ServerMethod,
    _ method: MethodDescriptor,
    _ headers: consuming HPACKHeaders,
    _ stamp: CallStamp,
    from peer: String,
    parent: SpanIdentity,
    _ rare: Rare?,
    timeline: CallTimeline?
  ) {
    self.known = known
    arrived = headers
    isFollowed = false
    start = stamp.start
    self.peer = peer
    self.timeline = timeline
    let span = Self.makeSpan(known, method, stamp.identity, parent, rare)
    super.init(stamp.identity, span, rare, nil)
  }

  /// The context of a call that is not recorded.
  init(
    _ known: ServerMethod,
    _ headers: consuming HPACKHeaders,
    _ identity: SpanIdentity,
    _ rare: Rare?,
    _ deadline: CallDeadline?
  ) {
    self.known = known
    arrived = headers
    isFollowed = true
    start = 0
    peer = ""
    timeline = nil
    super.init(identity, nil, rare, nil)
    self.deadline = deadline
  }

  @inline(never)
  private static func makeSpan(
    _ known: ServerMethod,
    _ method: MethodDescriptor,
    _ identity: SpanIdentity,
    _ parent: SpanIdentity,
    _ rare: Rare?
  ) -> Span? {
    guard let tracer = known.parts.tracer, tracer.records(identity) else { return nil }
    let context = SpanContext(identity, rare?.traceState ?? "")
    let (name, start) = ("Recv.\(method.spanName)", tracer.clock.now)
    let span = Span(name, context, parent: parent, kind: .server, start: start, tracer)
    span.describe(method)
    return span
  }

  override var servedCall: CallContext? { self }
  override var headers: HPACKHeaders { changed.value?.headers ?? arrived }
  override var baggage: Baggage { changed.value?.baggage ?? super.baggage }

  override func handlerReceives(_ headers: HPACKHeaders) {
    let new = Changed(headers: headers, baggage: TraceHeaders(headers).baggage)
    changed.change(from: new) { $0 = new }
  }

  /// Cancels `call`, which the handler makes, when this call ends, or at once if it has ended.
  func add(_ call: any ByteCall, for tracer: AnyObject) {
    guard group.withLock({ $0.add(call, for: tracer) }) else { return call.cancel(.servedCallEnded) }
    hasGroup.store(true, ordering: .sequentiallyConsistent)
    // This call may have ended without noticing the group.
    if isOver.load(ordering: .sequentiallyConsistent) { endGroup() }
  }

  private func endGroup() {
    guard hasGroup.load(ordering: .sequentiallyConsistent) else { return }
    for call in group.withLock({ $0.end() }) { call.cancel(.servedCallEnded) }
  }

  func remove(_ tracer: AnyObject) {
    let call = group.withLock { $0.remove(tracer) }
    // Releases the call here, not while the lock is held.
    _ = call
  }

  var wantsMessages: Bool { recordsMessages || timeline != nil }
  private var recordsMessages: Bool { span != nil && known.parts.hasMessageEvents }

  func messageSent(_ byteCount: Int, compressed: Int?) {
    guard recordsMessages else { return }
    span?.noteMessage("Outbound message", sentCount, byteCount, compressed: compressed)
    sentCount += 1
  }

  func messageReceived(_ byteCount: Int) {
    timeline?.requestArrived()
    guard recordsMessages else { return }
    span?.noteMessage("Inbound message", receivedCount, byteCount)
    receivedCount += 1
  }

  @inline(never)
  private func keep(_ end: ObservedEnd, _ duration: Int) {
    known.parts.keep(known.counter.called, end, duration, since: start, isTimed: timeline != nil) { call in
      call.peer = peer
      call.headers = arrived
      call.identity = identity
      call.timeline = timeline
    }
  }

  func ended(_ end: ObservedEnd, _ stamp: CallStamp) {
    if known.isCounted, !isFollowed {
      let clock = known.parts.clock
      let duration = TelemetryClock.duration(from: start, to: clock.mark)
      let exemplar = clock.exemplar(duration, in: spanContext)
      known.counter.callEnded(CallMeter.End(end, duration, exemplar), whole: nil)
      timeline?.callEnded(after: duration)
      if timeline != nil || known.counter.called.isNotable(end.status.code, duration) { keep(end, duration) }
    }
    if let span { span.end(end.status, at: known.parts.clock.now) }
    isOver.store(true, ordering: .sequentiallyConsistent)
    endGroup()
  }
}
