/// What an observer gives the tasks of a handler, and finds again in the calls that they make.
package struct TaskContext: Sendable {
  /// Not an optional object, whose metadata the runtime would look up for each task.
  package let object: (any AnyObject & Sendable)?

  package init(_ object: (any AnyObject & Sendable)?) { self.object = object }

  @TaskLocal package static var current = TaskContext(nil)

  /// Runs `body`, whose tasks find the object.
  package static func with<Result>(_ object: any AnyObject & Sendable, _ body: () -> Result) -> Result {
    $current.withValue(TaskContext(object), operation: body)
  }
}
