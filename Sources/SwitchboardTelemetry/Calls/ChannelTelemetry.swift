import SwitchboardCall

/// Follows the calls of one channel.
final class ChannelTelemetry: ChannelTracer {
  let parts: TelemetryParts
  let target: String
  private let propagation: ContextPropagation
  private let meters: ShardedMeterCache?
  /// Whether the context of callers matters.
  private let wantsContext: Bool

  init(_ telemetry: CallTelemetry, _ target: String) {
    parts = telemetry.parts
    self.target = target
    propagation = telemetry.propagation
    wantsContext = parts.tracer != nil || propagation != .nothing
    meters = parts.clientMeters.map { meters in
      ShardedMeterCache { meters.meter(method: $0.metricLabel, target: target) }
    }
  }

  var context: AnyObject? {
    guard wantsContext else { return nil }
    let context = CallContext.current
    guard let span = parts.spanOfTask?() else { return context }
    return (context ?? .none).inside(span)
  }

  func callMade(_ request: inout CallRequest, context: AnyObject?) -> (any ClientCallTracer)? {
    let caller = wantsContext ? (context as? CallContext) ?? CallContext.current : nil
    let meter = meters?.meter(of: request.method)
    if let caller { passOn(caller, to: &request) }
    if parts.tracer != nil, let metadata = request.options?.initialMetadata, TraceHeaders.areIn(metadata) {
      request.options?.initialMetadata = TraceHeaders.removed(from: metadata)
    }
    let served = propagation.passesCancellation ? caller?.servedCall : nil
    let parent = context == nil ? parts.spanOfTask?() ?? caller?.spanContext : caller?.spanContext
    return ClientCall(
      self,
      request.method,
      meter,
      parent,
      baggage: baggage(of: caller, request),
      servedIn: served
    )
  }

  private func passOn(_ caller: CallContext, to request: inout CallRequest) {
    if propagation.passesDeadline, let deadline = caller.deadline,
      request.deadline.map({ deadline.time < $0.time }) ?? true
    {
      request.deadline = deadline
    }
    guard !propagation.metadata.isEmpty, !caller.headers.isEmpty else { return }
    var metadata = request.options?.initialMetadata ?? HPACKHeaders()
    var isChanged = false
    for name in propagation.metadata where !metadata.contains(name: name) {
      for value in caller.headers[name] {
        metadata.add(name: name, value: value)
        isChanged = true
      }
    }
    guard isChanged else { return }
    var options = request.options ?? CallOptions()
    options.initialMetadata = metadata
    request.options = options
  }

  /// The header of the baggage that the call carries. What the call's own metadata says takes precedence.
  private func baggage(of caller: CallContext?, _ request: CallRequest) -> [UInt8]? {
    guard propagation.passesBaggage, let caller, !caller.baggage.isEmpty else { return nil }
    if request.options?.initialMetadata.contains(name: "baggage") ?? false { return nil }
    return Array(caller.baggage.header.utf8)
  }
}
