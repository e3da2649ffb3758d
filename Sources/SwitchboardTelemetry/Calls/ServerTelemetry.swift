import SwitchboardCall

/// Follows the calls of one connection to a server.
final class ServerTelemetry: ServerTracer, @unchecked Sendable {
  // Sendable because mutable state is used on the loop only.
  private let parts: TelemetryParts
  private let number: LoopNumber
  let givesContext: Bool
  /// `nil`: calls are not traced.
  private let tracer: Tracer?
  @exclusivity(unchecked) private var ids: LoopIDs
  @exclusivity(unchecked) private var methods = MethodCache<ServerMethod>()
  /// Metadata without fields of a trace. Most calls of a connection have the same.
  @exclusivity(unchecked) private var plain = HPACKHeaders()

  init(_ parts: TelemetryParts, on loop: any EventLoop) {
    self.parts = parts
    number = parts.loops.number(of: loop)
    givesContext = parts.givesContext
    tracer = parts.tracer
    ids = (parts.tracer?.ids ?? IDGenerator()).forLoop()
  }

  func callStarted(
    _ method: MethodDescriptor,
    _ headers: consuming HPACKHeaders,
    _ traceParent: TraceParentText?,
    _ stamp: inout CallStamp
  ) -> any ServerCallTracer {
    let known = methods.value(of: method) { makeMethod(method) }
    if known.isCounted { known.counter.callStarted() }
    guard givesContext else {
      if known.isCounted { stamp.start = parts.clock.mark }
      return known
    }
    var parent = SpanIdentity.none
    var rare: CallContext.Rare?
    if isPlain(headers) {
      if let traceParent { parent = TraceParent.identity(traceParent) }
    } else {
      let found = TraceHeaders(copy headers, traceParent)
      rare = CallContext.Rare(traceState: found.context?.traceState ?? "", baggage: found.baggage)
      parent = found.context?.identity ?? .none
    }
    let identity = tracer?.newIdentity(parent, &ids) ?? .none
    return ServerCall(known, method, headers, identity, parent: parent, rare)
  }

  private func isPlain(_ headers: HPACKHeaders) -> Bool {
    if headers.isCopy(of: plain) { return true }
    guard !TraceHeaders.areIn(headers, orBaggage: true) else { return false }
    plain = headers
    return true
  }

  private func makeMethod(_ method: MethodDescriptor) -> ServerMethod {
    let meter = parts.serverMeters?.meter(method: method.metricLabel, target: "")
    return ServerMethod(parts, meter.map { LoopCounter($0, on: number) } ?? .nothing)
  }
}

/// Counts the calls of one method on one loop, if they are not traced and their handlers get no context.
final class ServerMethod: ServerCallTracer {
  let parts: TelemetryParts
  let counter: LoopCounter
  /// The counter's `isShown`.
  let isCounted: Bool

  init(_ parts: TelemetryParts, _ counter: LoopCounter) {
    self.parts = parts
    self.counter = counter
    isCounted = counter.isShown
  }

  var isContext: Bool { false }
  var wantsMessages: Bool { false }
  func handlerStarts(deadline: CallDeadline) {}
  func messageSent(_ byteCount: Int, compressed: Int?) {}
  func messageReceived(_ byteCount: Int) {}

  func ended(_ end: ObservedEnd, _ stamp: CallStamp) {
    guard isCounted else { return }
    let duration = TelemetryClock.duration(from: stamp.start, to: parts.clock.mark)
    counter.callEnded(CallMeter.End(end, duration, nil), whole: nil)
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
