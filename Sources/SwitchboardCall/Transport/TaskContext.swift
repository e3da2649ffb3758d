import CLoopThread

/// What tasks have as their context: the context itself, or a call that makes it when it is asked for.
@usableFromInline package protocol ContextSource: AnyObject, Sendable {
  var context: AnyObject? { get }
}

/// A context that an observer gives to the tasks of a handler, and that the calls they make inherit.
@usableFromInline package struct TaskContext: Sendable {
  /// Wrapped in a struct, because the runtime would look up the metadata of an optional for each task.
  private let source: (any ContextSource)?

  package init(_ source: (any ContextSource)?) { self.source = source }

  @TaskLocal package static var current = TaskContext(nil)

  private static var key: UnsafeRawPointer {
    switchboard_context_key { UnsafeRawPointer(Unmanaged.passUnretained(TaskContext.$current).toOpaque()) }
  }

  /// The context of the task.
  package static var object: AnyObject? {
    switchboard_task_value(key)?.assumingMemoryBound(to: TaskContext.self).pointee.source?.context
  }

  private static var type: UnsafeRawPointer {
    unsafeBitCast(TaskContext.self as Any.Type, to: UnsafeRawPointer.self)
  }

  /// Makes `source` the context of the task until `unbind`. All that the task binds in between must be unbound by then.
  package static func bind(_ source: any ContextSource) {
    // The runtime takes over a value of this type, and releases what is retained here.
    _ = Unmanaged.passRetained(source as AnyObject)
    withUnsafePointer(to: TaskContext(source)) { switchboard_bind_task_value(key, $0, type) }
  }

  @usableFromInline package static func unbind() { switchboard_unbind_task_value() }

  /// Lets the calling thread lend contexts, unless a task runs on it. Call while nothing is bound.
  package static func prepareThread() { switchboard_prepare_thread(key, type) }

  /// Makes `source` the context of the tasks that this thread starts until `takeBack`, which is cheaper than that they bind
  /// it. Returns `false` if it cannot, as within a task. The caller keeps `source` until then.
  package static func lend(_ source: any ContextSource) -> Bool {
    switchboard_lend_thread_value(unsafeBitCast(TaskContext(source), to: switchboard_reference.self))
  }

  @usableFromInline package static func takeBack() { switchboard_take_back_thread_value() }
}
