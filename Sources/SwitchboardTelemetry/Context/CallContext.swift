import SwitchboardCall

/// The call that a task serves and the span that it is in. The calls that the task makes read it.
class CallContext: @unchecked Sendable {
  // Sendable because only the deadline changes, and it is set before a task can see the context.
  static var current: CallContext? { TaskContext.current.object as? CallContext }

  let spanContext: SpanContext?
  /// The span, if it is recorded.
  let span: Span?
  let baggage: Baggage
  /// The metadata of the call that is served.
  let headers: HPACKHeaders
  final var deadline: CallDeadline?
  /// The call that is served, if this context is not the call itself. See `servedCall`.
  private let served: ServerCall?

  init(
    _ spanContext: SpanContext?,
    _ span: Span?,
    _ baggage: Baggage,
    _ headers: HPACKHeaders,
    _ served: ServerCall?
  ) {
    self.spanContext = spanContext
    self.span = span
    self.baggage = baggage
    self.headers = headers
    self.served = served
  }

  /// The call that the task serves.
  var servedCall: ServerCall? { served }

  /// The exemplar of a value. `nil` if the trace is not recorded. `date` is in nanoseconds since 1970.
  final func exemplar(_ value: Double, _ date: UInt64) -> Exemplar? {
    spanContext?.exemplar(value, date)
  }

  /// The context within another span.
  private func inside(_ span: Span) -> CallContext {
    let inner = CallContext(span.context, span, baggage, headers, servedCall)
    inner.deadline = deadline
    return inner
  }

  private func carrying(_ baggage: Baggage) -> CallContext {
    let inner = CallContext(spanContext, span, baggage, headers, servedCall)
    inner.deadline = deadline
    return inner
  }

  /// The context within a span of another library.
  func inside(_ span: SpanContext) -> CallContext {
    let inner = CallContext(span, nil, baggage, headers, servedCall)
    inner.deadline = deadline
    return inner
  }

  static let none = CallContext(nil, nil, Baggage(), HPACKHeaders(), nil)

  nonisolated(nonsending) static func with<Result>(
    _ span: Span,
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    try await inTask((current ?? none).inside(span), body)
  }

  nonisolated(nonsending) private static func inTask<Result>(
    _ context: CallContext,
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    try await TaskContext.$current.withValue(TaskContext(context), operation: body)
  }

  nonisolated(nonsending) static func with<Result>(
    _ baggage: Baggage,
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    try await inTask((current ?? none).carrying(baggage), body)
  }
}

extension SpanContext {
  func exemplar(_ value: Double, _ date: UInt64) -> Exemplar? {
    guard isSampled else { return nil }
    return Exemplar(value: value, date: date, traceID: traceID, spanID: spanID)
  }
}

extension Span {
  /// The task's span: the innermost one of `withSpan`, or else that of the call that the task serves. `nil` if there is
  /// neither, or if the trace is not recorded.
  public static var current: Span? { CallContext.current?.span }
}

extension SpanContext {
  /// The identity of the task's span, recorded or not.
  public static var current: SpanContext? { CallContext.current?.spanContext }
}
