// unsafe: what follows a call is confined to the call's loop

import SwitchboardCall
import SwitchboardTransport

/// Follows the calls of one connection to a server. Those that are not recorded have no tracer of their own.
final class ServerTelemetry: ServerTracer, @unchecked Sendable {
  // Sendable because mutable state is used on the loop only; `makeContext` uses none.
  private let parts: TelemetryParts
  // Of `parts`, through which each call would count a reference.
  private let clock: TelemetryClock
  private let countsCalls: Bool
  private let number: LoopNumber
  let givesContext: Bool
  /// `nil`: calls are not traced.
  private let tracing: TracingRule?
  @exclusivity(unchecked) private var ids: LoopIDs
  @exclusivity(unchecked) private var methods = MethodCache<ServerMethod>()
  /// For calls that are not counted, and for contexts of calls that are not recorded.
  private let uncounted: ServerMethod
  /// The number of metadata without fields of a trace. Most calls of a connection have the same.
  @exclusivity(unchecked) private var plainNumber: Int?

  init(_ parts: TelemetryParts, on loop: any EventLoop) {
    self.parts = parts
    clock = parts.clock
    countsCalls = parts.serverMeters != nil
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
      stamp.identity = tracing.newIdentity(parent, &ids)
      if tracing.records(stamp.identity) {
        let rare = isPlain(number) ? nil : ServerMethod.rare(headers(), taken)
        return record(method, headers(), rare, parent, stamp.identity)
      }
    }
    stamp.isLean = true
    stamp.wantsEnd = countsCalls
    guard countsCalls else { return nil }
    known(method)._withUnsafeGuaranteedRef { $0.counter.callStarted() }
    stamp.start = clock.mark
    return nil
  }

  func callEnded(_ end: ObservedEnd, _ method: MethodDescriptor, _ stamp: CallStamp) {
    let duration = TelemetryClock.duration(from: stamp.start, to: clock.mark)
    known(method)._withUnsafeGuaranteedRef {
      $0.counter.callEnded(CallMeter.End(end, duration, nil), whole: nil)
    }
  }

  @inline(never)
  private func record(
    _ method: MethodDescriptor,
    _ headers: HPACKHeaders,
    _ rare: CallContext.Rare?,
    _ parent: SpanIdentity,
    _ identity: SpanIdentity
  ) -> ServerCall {
    let known = known(method).takeUnretainedValue()
    known.counter.callStarted()
    return ServerCall(known, method, headers, identity, parent: parent, rare)
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
