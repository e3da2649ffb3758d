import CLoopThread

/// A context that an observer gives to the tasks of a handler, and that the calls they make inherit.
@usableFromInline package struct TaskContext: Sendable {
  /// Wrapped in a struct, because the runtime would look up the metadata of an optional for each task.
  package let object: (any AnyObject & Sendable)?

  package init(_ object: (any AnyObject & Sendable)?) { self.object = object }

  @TaskLocal package static var current = TaskContext(nil)

  private static var key: UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained($current).toOpaque()) }

  /// The object of `current`.
  package static var object: (any AnyObject & Sendable)? {
    switchboard_task_value(key)?.assumingMemoryBound(to: TaskContext.self).pointee.object
  }

  /// Makes `object` the context of the task until `unbind`. All that the task binds in between must be unbound by then.
  package static func bind(_ object: consuming any AnyObject & Sendable) {
    // The memory is that of a `TaskContext`, which the runtime releases.
    var owned = Unmanaged.passRetained(object as AnyObject).toOpaque()
    let type = unsafeBitCast(TaskContext.self as Any.Type, to: UnsafeRawPointer.self)
    switchboard_bind_task_value(key, &owned, type)
  }

  @usableFromInline package static func unbind() { switchboard_unbind_task_value() }
}
