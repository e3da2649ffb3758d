import SwitchboardCall

/// Makes the spans of a process.
///
/// ```swift
/// let total = try await telemetry.tracer.withSpan("price the cart") { span in
///   span.set("cart.items", .int(items.count))
///   return try await price(items)
/// }
/// ```
public final class Tracer: Sendable {
  let clock: TelemetryClock
  let limits: SpanLimits
  let ids: IDGenerator
  let rule: TracingRule
  private let sink: @Sendable (SpanRecord) -> Void
  private let lost: @Sendable () -> Void

  init(
    _ clock: TelemetryClock,
    _ sampler: Sampler,
    _ limits: SpanLimits,
    _ ids: IDGenerator,
    isEnabled: Bool,
    sink: @escaping @Sendable (SpanRecord) -> Void,
    lost: @escaping @Sendable () -> Void
  ) {
    self.clock = clock
    rule = TracingRule(isEnabled: isEnabled, sampling: SamplingRule(sampler))
    self.limits = limits
    self.ids = ids
    self.sink = sink
    self.lost = lost
  }

  /// The context of a new child of `parent`.
  ///
  /// If nothing is exported, the trace passes through as if this process were not there, and none begins here.
  func newContext(_ parent: SpanContext?) -> SpanContext {
    SpanContext(newIdentity(parent?.identity ?? .none), parent?.traceState ?? "")
  }

  @inline(__always)
  func newIdentity(_ parent: SpanIdentity) -> SpanIdentity {
    var ids = ids.forSpan()
    return rule.newIdentity(parent, &ids)
  }

  /// Whether a span with this identity is recorded.
  @inline(__always)
  func records(_ identity: SpanIdentity) -> Bool { rule.records(identity) }

  func spanEnded(_ record: SpanRecord) { sink(record) }

  func spanWasLost() { lost() }
}

/// Which spans a tracer records, as a value: what follows each call reads it without counting a reference.
struct TracingRule {
  let isEnabled: Bool
  let sampling: SamplingRule

  /// The identity of a new child of `parent`, from a generator such as a loop's own.
  @inline(__always)
  func newIdentity(_ parent: SpanIdentity, _ ids: inout some IDSource) -> SpanIdentity {
    newIdentity(parent, &ids, by: sampling)
  }

  /// The same by another rule of sampling.
  @inline(__always)
  func newIdentity(_ parent: SpanIdentity, _ ids: inout some IDSource, by sampling: SamplingRule)
    -> SpanIdentity
  {
    // A new trace that is not recorded would keep later services from recording theirs.
    guard isEnabled else { return parent }
    let traceID = parent.isValid ? parent.traceID : ids.traceID()
    return SpanIdentity(traceID, ids.spanID(), isSampled: sampling.samples(traceID, parent))
  }

  @inline(__always)
  func records(_ identity: SpanIdentity) -> Bool { isEnabled && identity.isSampled }
}
