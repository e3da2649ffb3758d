/// A context that an observer gives to the tasks of a handler, and that the calls they make inherit.
package struct TaskContext: Sendable {
  /// Wrapped in a struct, because the runtime would look up the metadata of an optional for each task.
  package let object: (any AnyObject & Sendable)?

  package init(_ object: (any AnyObject & Sendable)?) { self.object = object }

  @TaskLocal package static var current = TaskContext(nil)

  /// Runs `body`. Tasks that it creates inherit the object.
  package static func with<Result>(_ object: any AnyObject & Sendable, _ body: () -> Result) -> Result {
    $current.withValue(TaskContext(object), operation: body)
  }
}
