// unsafe: what follows a call is confined to the call's loop

import SwitchboardCall

/// Follows the calls of one channel. A call gets an object of its own only if more than its start and its identity must
/// be kept.
final class ChannelTelemetry: ChannelTracer, @unchecked Sendable {
  // Sendable because mutable state is used on the channel's loop only.
  let parts: TelemetryParts
  let target: String
  private let propagation: ContextPropagation
  // Of `parts`, through which each call would count a reference.
  private let clock: TelemetryClock
  private let levers: SamplingLevers
  private let countsCalls: Bool
  private let keeping: CallKeeping
  private let loop: any EventLoop
  private let number: LoopNumber
  /// `nil`: calls are not traced.
  private let tracer: Tracer?
  private let rule: TracingRule?
  /// For the calls that are made on the loop.
  @exclusivity(unchecked) private var ids: LoopIDs
  /// Whether another library keeps the spans of tasks.
  private let asksForSpans: Bool
  /// Whether calls take anything from the context of their callers.
  private let wantsContext: Bool
  /// Whether calls that are not recorded add no header but `traceparent`.
  let isLean: Bool
  @exclusivity(unchecked) private var methods = MethodCache<ChannelMethod>()
  @exclusivity(unchecked) private var labelled: [LabelledMethod: LoopCounter] = [:]

  private struct LabelledMethod: Hashable {
    let method: String
    let labels: [String]
  }

  init(
    _ parts: TelemetryParts,
    _ propagation: ContextPropagation,
    _ target: String,
    on loop: any EventLoop
  ) {
    self.parts = parts
    clock = parts.clock
    levers = parts.levers
    countsCalls = parts.clientMeters != nil
    keeping = parts.keeping
    self.propagation = propagation
    self.target = target
    self.loop = loop
    number = parts.loops.number(of: loop)
    tracer = parts.tracer
    rule = parts.tracer?.rule
    ids = (parts.tracer?.ids ?? IDGenerator()).forLoop()
    asksForSpans = parts.spanOfTask != nil
    wantsContext = parts.tracer != nil || propagation != .nothing
    isLean = parts.tracer == nil || parts.writesTraceParent && !parts.writesTraceBin
  }

  /// Call on the loop.
  func method(_ method: MethodDescriptor) -> ChannelMethod { known(method).takeUnretainedValue() }

  /// The same, without counting a reference. Call on the loop.
  @inline(__always)
  func known(_ method: MethodDescriptor) -> Unmanaged<ChannelMethod> {
    methods.value(of: method) { makeMethod(method) }
  }

  @inline(never)
  private func makeMethod(_ method: MethodDescriptor) -> ChannelMethod {
    ChannelMethod(self, method, counter(of: method))
  }

  private func counter(of method: MethodDescriptor, labels: [String] = []) -> LoopCounter {
    let meter = parts.clientMeters?.meter(method: method.metricLabel, target: target.asLabel, labels: labels)
    return meter.map { LoopCounter($0, on: number) } ?? .nothing
  }

  /// The counter of a method's attempts at servers with these labels. `nil` if the counter of its calls counts them
  /// too. Call on the loop.
  func counter(of method: MethodDescriptor, at labels: [String: String]) -> LoopCounter? {
    guard let names = parts.clientMeters?.labels, !names.isEmpty else { return nil }
    let values = names.map { (labels[$0] ?? "").asLabel }
    guard values.contains(where: { !$0.isEmpty }) else { return nil }
    let key = LabelledMethod(method: method.metricLabel, labels: values)
    if let known = labelled[key] { return known }
    // Endpoints come and go, so the cache is emptied from time to time.
    if labelled.count >= 256 { labelled = [:] }
    let made = counter(of: method, labels: values)
    labelled[key] = made
    return made
  }

  var context: (any ContextSource)? {
    guard wantsContext else { return nil }
    let context = CallContext.current
    guard let span = parts.spanOfTask?() else { return context }
    return (context ?? .none).inside(span)
  }

  func callMade(_ request: inout CallRequest) {
    if countsCalls { request.stamp.start = clock.mark }
    guard wantsContext else { return follow(&request, .none) }
    let caller = CallContext.current
    guard caller != nil || asksForSpans else { return beginTrace(with: &request) }
    if let caller, propagation != .nothing { passOn(caller, to: &request) }
    follow(&request, in: caller, parts.spanOfTask?())
  }

  func callMade(_ request: inout CallRequest, for context: (any ContextSource)?) {
    if countsCalls { request.stamp.start = clock.mark }
    guard wantsContext else { return follow(&request, .none) }
    guard let caller = context?.context as? CallContext else { return beginTrace(with: &request) }
    follow(&request, in: caller, nil)
  }

  /// Follows a call in which a trace begins, as most do.
  private func beginTrace(with request: inout CallRequest) {
    removeTrace(from: &request)
    let identity = newIdentity(.none, of: request.method)
    guard identity.isSampled else { return follow(&request, identity) }
    request.tracer = ClientCall(self, request, SpanContext(identity, ""))
  }

  /// Follows a call that is made in a span, or for another call.
  private func follow(_ request: inout CallRequest, in caller: CallContext?, _ span: SpanContext?) {
    removeTrace(from: &request)
    let served = propagation.passesCancellation ? caller?.servedCall as? ServerCall : nil
    request.stamp.wantsCall = served != nil
    let parent = span?.identity ?? caller?.identity ?? .none
    let identity = newIdentity(parent, of: request.method)
    let hasState = span.map { !$0.traceState.isEmpty } ?? caller?.hasTraceState ?? false
    guard identity.isSampled || hasState || served != nil else { return follow(&request, identity) }
    let traceState = hasState ? (span ?? caller?.spanContext)?.traceState : nil
    request.tracer = ClientCall(
      self,
      request,
      identity.isValid ? SpanContext(identity, traceState ?? "") : nil,
      parent: parent,
      servedIn: served
    )
  }

  /// The identity of a call in a span. Calls that are made on the loop need no atomic operation for it.
  @inline(__always)
  private func newIdentity(_ parent: SpanIdentity, of method: MethodDescriptor) -> SpanIdentity {
    guard let rule else { return .none }
    if levers.arePulled { return leveredIdentity(method, parent, rule) }
    return loop.inEventLoop ? rule.newIdentity(parent, &ids) : newIdentityElsewhere(parent)
  }

  @inline(never)
  private func leveredIdentity(_ method: MethodDescriptor, _ parent: SpanIdentity, _ rule: TracingRule)
    -> SpanIdentity
  {
    var ids = (tracer?.ids ?? IDGenerator()).forSpan()
    return rule.newIdentity(parent, &ids, by: levers.rule(for: method) ?? rule.sampling)
  }

  @inline(never)
  private func newIdentityElsewhere(_ parent: SpanIdentity) -> SpanIdentity {
    tracer?.newIdentity(parent) ?? .none
  }

  /// Removes the trace that a handler has copied from the call that it serves.
  @inline(__always)
  private func removeTrace(from request: inout CallRequest) {
    guard tracer != nil, let metadata = request.options?.initialMetadata, !metadata.isEmpty,
      TraceHeaders.areIn(metadata)
    else { return }
    request.options?.initialMetadata = TraceHeaders.removed(from: metadata)
  }

  /// Follows a call without an object of its own.
  @inline(__always)
  private func follow(_ request: inout CallRequest, _ identity: SpanIdentity) {
    if keeping.isTiming, time(&request, identity) { return }
    request.stamp.identity = identity
    request.stamp.wantsEnd = countsCalls
    request.stamp.isLean = isLean
    if request.stamp.needsTracer { request.tracer = self }
  }

  /// Follows a call that gets a timeline: what happens to its attempts. Returns `false` if it gets none.
  @inline(never)
  private func time(_ request: inout CallRequest, _ identity: SpanIdentity) -> Bool {
    guard countsCalls, keeping.takesTime(at: request.stamp.start) else { return false }
    let context = identity.isValid ? SpanContext(identity, "") : nil
    request.tracer = ClientCall(self, request, context, isTimed: true)
    return true
  }

  // MARK: What calls inherit

  func passOn(_ context: any ContextSource, to metadata: inout HPACKHeaders) -> CallDeadline? {
    guard propagation != .nothing, let caller = context.context as? CallContext else { return nil }
    return passOn(caller, to: &metadata)
  }

  private func passOn(_ caller: CallContext, to request: inout CallRequest) {
    let own = request.options?.initialMetadata ?? HPACKHeaders()
    var metadata = own
    request.deadline = .earlier(request.deadline, passOn(caller, to: &metadata))
    guard !metadata.isCopy(of: own) else { return }
    var options = request.options ?? CallOptions()
    options.initialMetadata = metadata
    request.options = options
  }

  private func passOn(_ caller: CallContext, to metadata: inout HPACKHeaders) -> CallDeadline? {
    if !propagation.metadata.isEmpty {
      let headers = caller.headers
      for name in propagation.metadata where !metadata.contains(name: name) {
        for value in headers[name] { metadata.add(name: name, value: value) }
      }
    }
    if propagation.passesBaggage, !metadata.contains(name: "baggage") {
      let baggage = caller.baggage
      if !baggage.isEmpty { metadata.add(name: "baggage", value: baggage.header) }
    }
    return propagation.passesDeadline ? caller.deadline : nil
  }
}
