extension Tracer {
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
}
