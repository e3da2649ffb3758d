/// What tasks have as their context: the context itself, or a call that makes it when it is asked for.
@usableFromInline package protocol ContextSource: AnyObject, Sendable {
  var context: AnyObject? { get }

  /// The handler gets these headers, which interceptors have changed, and so do the calls that it makes.
  func handlerReceives(_ headers: HPACKHeaders)
}

/// A context that an observer gives to the tasks of a handler, and that the calls they make inherit.
@usableFromInline package struct TaskContext: Sendable {
  /// Wrapped in a struct, because the runtime would look up the metadata of an optional for each task.
  private let source: (any ContextSource)?

  package init(_ source: (any ContextSource)?) { self.source = source }

  @TaskLocal package static var current = TaskContext(nil)

  /// What the task has as its context.
  @usableFromInline package static var source: (any ContextSource)? { current.source }

  /// The context of the task.
  package static var object: AnyObject? { source?.context }

  /// Runs `body` with `source`, if there is one, as the context of the task and of those that it starts.
  @usableFromInline package static func with(_ source: (any ContextSource)?, _ body: () -> Void) {
    guard let source else { return body() }
    $current.withValue(TaskContext(source), operation: body)
  }

  /// The same with a body that may suspend.
  @usableFromInline
  nonisolated(nonsending) package static func with(
    _ source: any ContextSource,
    _ body: () async throws -> Void
  ) async throws {
    try await $current.withValue(TaskContext(source), operation: body)
  }
}
