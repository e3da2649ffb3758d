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

  /// Starts a span, as a child of `parent` or else of the task's span. The caller must end it.
  public func startSpan(
    _ name: String,
    kind: Span.Kind = .internal,
    parent: SpanContext? = nil
  ) -> Span {
    startSpan(name, kind: kind, parent: parent, start: clock.now)
  }

  /// Starts a span at a date, in nanoseconds since 1970.
  package func startSpan(_ name: String, kind: Span.Kind, parent: SpanContext?, at date: UInt64) -> Span {
    startSpan(name, kind: kind, parent: parent, start: clock.reading(at: date))
  }

  private func startSpan(_ name: String, kind: Span.Kind, parent: SpanContext?, start: UInt64) -> Span {
    let parent = parent ?? CallContext.current?.spanContext
    let context = newContext(parent)
    return Span(
      name.limited(to: limits.valueLength),
      context,
      parent: parent?.identity ?? .none,
      kind: kind,
      start: start,
      records(context.identity) ? self : nil
    )
  }

  /// Runs `body` in a span. Spans and calls that it makes are children of the span. If it throws, the span has failed.
  nonisolated(nonsending) public func withSpan<Result>(
    _ name: String,
    kind: Span.Kind = .internal,
    parent: SpanContext? = nil,
    _ body: nonisolated(nonsending) (Span) async throws -> Result
  ) async rethrows -> Result {
    let span = startSpan(name, kind: kind, parent: parent)
    defer { span.end() }
    do {
      return try await CallContext.with(span) { try await body(span) }
    } catch {
      span.fail(error)
      throw error
    }
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
    // A new trace that is not recorded would keep later services from recording theirs.
    guard isEnabled else { return parent }
    let traceID = parent.isValid ? parent.traceID : ids.traceID()
    return SpanIdentity(traceID, ids.spanID(), isSampled: sampling.samples(traceID, parent))
  }

  @inline(__always)
  func records(_ identity: SpanIdentity) -> Bool { isEnabled && identity.isSampled }
}
