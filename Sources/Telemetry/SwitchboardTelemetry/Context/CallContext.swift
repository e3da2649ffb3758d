// unsafe: not written after a task can see it

import SwitchboardCall

/// The call that a task serves and the span that it is in. The calls that the task makes read it.
class CallContext: ContextSource, @unchecked Sendable {
  // Sendable because only the deadline changes, and it is set before a task can see the context.
  static var current: CallContext? { TaskContext.object as? CallContext }

  let identity: SpanIdentity
  /// The span, if it is recorded.
  let span: Span?
  private let rare: Rare?
  final var deadline: CallDeadline?
  /// The call that is served, if this context is not the call itself. See `servedCall`.
  private let served: CallContext?

  /// What few calls have.
  final class Rare: Sendable {
    let traceState: String
    /// What the program has set, or a client has sent.
    let baggage: Baggage?

    /// `nil` if the call has neither.
    init?(traceState: String, baggage: Baggage?) {
      if traceState.isEmpty, baggage == nil { return nil }
      self.traceState = traceState
      self.baggage = baggage
    }
  }

  init(
    _ identity: SpanIdentity,
    _ span: Span?,
    _ rare: Rare?,
    _ served: CallContext?
  ) {
    self.identity = identity
    self.span = span
    self.rare = rare
    self.served = served
  }

  private convenience init(
    _ span: SpanContext?,
    _ recorded: Span?,
    _ baggage: Baggage?,
    in outer: CallContext
  ) {
    let rare = Rare(traceState: span?.traceState ?? "", baggage: baggage)
    self.init(span?.identity ?? .none, recorded, rare, outer.servedCall)
    deadline = outer.deadline
  }

  final var spanContext: SpanContext? {
    identity.isValid ? SpanContext(identity, rare?.traceState ?? "") : nil
  }

  /// The baggage of the task.
  var baggage: Baggage { rare?.baggage ?? served?.baggage ?? Baggage() }

  /// What the program has set. The rest changes with what interceptors make of the call that is served.
  private var ownBaggage: Baggage? { servedCall === self ? nil : rare?.baggage }

  /// The metadata of the call that is served, as its handler gets it.
  var headers: HPACKHeaders { served?.headers ?? HPACKHeaders() }

  /// Whether calls inherit more of the span than its identity.
  final var hasTraceState: Bool { !(rare?.traceState.isEmpty ?? true) }

  /// The call that the task serves.
  var servedCall: CallContext? { served }

  /// As the source of tasks' context.
  final var context: AnyObject? { self }

  func handlerReceives(_ headers: HPACKHeaders) { served?.handlerReceives(headers) }

  /// The exemplar of a value. `nil` if the trace is not recorded. `date` is in nanoseconds since 1970.
  final func exemplar(_ value: Double, _ date: UInt64) -> Exemplar? {
    spanContext?.exemplar(value, date)
  }

  /// The context within another span.
  private func inside(_ span: Span) -> CallContext {
    CallContext(span.context, span, ownBaggage, in: self)
  }

  private func carrying(_ baggage: Baggage) -> CallContext {
    CallContext(spanContext, span, baggage, in: self)
  }

  /// The context within a span of another library.
  func inside(_ span: SpanContext) -> CallContext {
    CallContext(span, nil, ownBaggage, in: self)
  }

  static let none = CallContext(.none, nil, nil, nil)

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

extension Span {
  /// The task's span: the innermost one of `withSpan`, or else that of the call that the task serves. `nil` if there is
  /// neither, or if the trace is not recorded.
  public static var current: Span? { CallContext.current?.span }
}

extension SpanContext {
  /// The identity of the task's span, recorded or not.
  public static var current: SpanContext? { CallContext.current?.spanContext }
}
