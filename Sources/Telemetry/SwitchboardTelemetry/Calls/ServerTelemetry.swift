// unsafe: what follows a call is confined to the call's loop

import SwitchboardCall
import SwitchboardTransport

/// Follows the calls of one connection to a server. Those that are not recorded have no tracer of their own.
final class ServerTelemetry: ServerTracer, @unchecked Sendable {
  // Sendable because mutable state is used on the loop only; `makeContext` uses none.
  private let parts: TelemetryParts
  // Of `parts`, through which each call would count a reference.
  private let clock: TelemetryClock
  private let levers: SamplingLevers
  private let countsCalls: Bool
  private let keeping: CallKeeping
  private let number: LoopNumber
  private let peer: String
  let givesContext: Bool
  /// `nil`: calls are not traced.
  private let tracing: TracingRule?
  @exclusivity(unchecked) private var ids: LoopIDs
  @exclusivity(unchecked) private var methods = MethodCache<ServerMethod>()
  /// For calls that are not counted, and for contexts of calls that are not recorded.
  private let uncounted: ServerMethod
  /// The number of metadata without fields of a trace. Most calls of a connection have the same.
  @exclusivity(unchecked) private var plainNumber: Int?

  init(_ parts: TelemetryParts, on loop: any EventLoop, peer: String) {
    self.parts = parts
    clock = parts.clock
    levers = parts.levers
    countsCalls = parts.serverMeters != nil
    keeping = parts.keeping
    self.peer = peer
    number = parts.loops.number(of: loop)
    givesContext = parts.givesContext
    tracing = parts.tracer?.rule
    uncounted = ServerMethod(parts, .nothing)
    ids = (parts.tracer?.ids ?? IDGenerator()).forLoop()
  }

  func callStarted(
    _ method: MethodDescriptor,
    _ headers: @autoclosure () -> HPACKHeaders,
    number: Int?,
    _ taken: SpanIdentity,
    _ stamp: inout CallStamp
  ) -> (any CallTracer)? {
    if let tracing {
      var parent = taken
      // Other fields than `traceparent` may say that the trace is recorded.
      if !isPlain(number) { look(at: headers(), number, &parent) }
      stamp.identity =
        levers.arePulled
        ? leveredIdentity(method, parent, tracing) : tracing.newIdentity(parent, &ids)
      if tracing.records(stamp.identity) {
        let rare = isPlain(number) ? nil : ServerMethod.rare(headers(), taken)
        return record(method, headers(), rare, parent, &stamp)
      }
    }
    if keeping.isTiming, let call = time(method, headers, number, taken, &stamp) { return call }
    stamp.isLean = true
    stamp.wantsEnd = countsCalls
    guard countsCalls else { return nil }
    known(method)._withUnsafeGuaranteedRef { $0.counter.callStarted() }
    stamp.start = clock.mark
    return nil
  }

  @inline(never)
  private func leveredIdentity(_ method: MethodDescriptor, _ parent: SpanIdentity, _ tracing: TracingRule)
    -> SpanIdentity
  {
    tracing.newIdentity(parent, &ids, by: levers.rule(for: method) ?? tracing.sampling)
  }

  func callEnded(
    _ end: ObservedEnd,
    _ method: MethodDescriptor,
    _ stamp: CallStamp,
    _ headers: @autoclosure () -> HPACKHeaders
  ) {
    let duration = TelemetryClock.duration(from: stamp.start, to: clock.mark)
    let isNotable = known(method)._withUnsafeGuaranteedRef {
      $0.counter.callEnded(CallMeter.End(end, duration, nil), whole: nil)
      return $0.counter.called.isNotable(end.status.code, duration)
    }
    if isNotable { keep(end, method, stamp, duration, headers) }
  }

  /// A call has ended that may be worth a look.
  @inline(never)
  private func keep(
    _ end: ObservedEnd,
    _ method: MethodDescriptor,
    _ stamp: CallStamp,
    _ duration: Int,
    _ headers: () -> HPACKHeaders
  ) {
    let called = known(method).takeUnretainedValue().counter.called
    parts.keep(called, end, duration, since: stamp.start, isTimed: false) { call in
      call.peer = peer
      call.headers = headers()
      call.identity = stamp.identity
    }
  }

  /// Follows a call that is not recorded, and gets a timeline. `nil` if it gets none.
  @inline(never)
  private func time(
    _ method: MethodDescriptor,
    _ headers: () -> HPACKHeaders,
    _ number: Int?,
    _ taken: SpanIdentity,
    _ stamp: inout CallStamp
  ) -> ServerCall? {
    guard countsCalls, keeping.takesTime(at: clock.mark) else { return nil }
    let rare = isPlain(number) ? nil : ServerMethod.rare(headers(), taken)
    return record(method, headers(), rare, .none, &stamp, isTimed: true)
  }

  func stageWatch(of tracer: (any CallTracer)?) -> (any StageWatch)? { (tracer as? ServerCall)?.timeline }

  @inline(never)
  private func record(
    _ method: MethodDescriptor,
    _ headers: HPACKHeaders,
    _ rare: CallContext.Rare?,
    _ parent: SpanIdentity,
    _ stamp: inout CallStamp,
    isTimed: Bool = false
  ) -> ServerCall {
    let known = known(method).takeUnretainedValue()
    known.counter.callStarted()
    // The duration of a call that is not counted is not needed.
    stamp.start = known.isCounted ? clock.mark : 0
    let isTimed = isTimed || known.isCounted && keeping.isTiming && keeping.takesTime(at: stamp.start)
    stamp.isWatched = isTimed
    let timeline = isTimed ? CallTimeline(start: stamp.start, clock) : nil
    return ServerCall(known, method, headers, stamp, from: peer, parent: parent, rare, timeline: timeline)
  }

  func makeContext(
    of tracer: (any CallTracer)?,
    _ headers: HPACKHeaders,
    _ taken: SpanIdentity,
    _ stamp: CallStamp,
    _ end: CallDeadline?
  ) -> any CallTracer & ContextSource {
    guard let call = tracer as? ServerCall else {
      return ServerCall(uncounted, headers, stamp.identity, ServerMethod.rare(headers, taken), end)
    }
    call.deadline = end
    return call
  }

  private func isPlain(_ number: Int?) -> Bool { number != nil && number == plainNumber }

  /// Reads what headers say of the caller's span, and remembers the number of those that say nothing.
  @inline(never)
  private func look(at headers: HPACKHeaders, _ number: Int?, _ parent: inout SpanIdentity) {
    if TraceHeaders.areIn(headers, orBaggage: true) {
      parent = TraceHeaders(headers, parent).context?.identity ?? .none
    } else {
      plainNumber = number
    }
  }

  /// The method's object, without counting a reference.
  @inline(__always)
  private func known(_ method: MethodDescriptor) -> Unmanaged<ServerMethod> {
    methods.value(of: method) { makeMethod(method) }
  }

  @inline(never)
  private func makeMethod(_ method: MethodDescriptor) -> ServerMethod {
    guard let meters = parts.serverMeters else { return uncounted }
    return ServerMethod(parts, LoopCounter(meters.meter(method: method.metricLabel, target: ""), on: number))
  }
}

/// What the calls of one method on one loop share.
final class ServerMethod: Sendable {
  let parts: TelemetryParts
  let counter: LoopCounter
  /// The counter's `isShown`.
  let isCounted: Bool

  init(_ parts: TelemetryParts, _ counter: LoopCounter) {
    self.parts = parts
    self.counter = counter
    isCounted = counter.isShown
  }

  /// What few calls have. `taken` is what `traceparent` says, if the transport has taken it out of the headers.
  static func rare(_ headers: HPACKHeaders, _ taken: SpanIdentity) -> CallContext.Rare? {
    guard TraceHeaders.areIn(headers, orBaggage: true) else { return nil }
    let found = TraceHeaders(headers, taken)
    let baggage = found.baggage.isEmpty ? nil : found.baggage
    return CallContext.Rare(traceState: found.context?.traceState ?? "", baggage: baggage)
  }
}

extension CallMeter.End {
  @inline(__always)
  init(_ end: ObservedEnd, _ duration: Int, _ exemplar: Exemplar?) {
    self.init(
      code: end.status.code,
      duration: duration,
      sentBytes: end.sentPayload,
      receivedBytes: end.receivedPayload,
      exemplar: exemplar
    )
  }
}

extension TelemetryClock {
  /// The exemplar of a duration that ends now. `nil` if its trace is not recorded.
  func exemplar(_ duration: Int, in context: SpanContext?) -> Exemplar? {
    guard let context, context.isSampled else { return nil }
    return context.exemplar(Double(duration) / 1e9, date(of: now))
  }
}
