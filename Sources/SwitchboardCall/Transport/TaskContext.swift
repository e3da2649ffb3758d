// unsafe: a value that the runtime takes over with its type, and lends while the task has it

import CLoopThread

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

  private static var key: UnsafeRawPointer {
    switchboard_context_key { UnsafeRawPointer(Unmanaged.passUnretained(TaskContext.$current).toOpaque()) }
  }

  /// What the task has as its context.
  @usableFromInline package static var source: (any ContextSource)? {
    switchboard_task_value(key)?.assumingMemoryBound(to: TaskContext.self).pointee.source
  }

  /// The context of the task.
  package static var object: AnyObject? { source?.context }

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

  /// Whether the current task is cancelled. Unlike `Task.isCancelled`, this does not retain the task.
  package static var isOfCancelledTask: Bool { switchboard_task_is_cancelled() }

  /// A place among all that a task has bound.
  @usableFromInline package typealias Position = UnsafeRawPointer

  /// The current task's position, which is the same again when what was bound since is unbound. There must be a task.
  @usableFromInline package static var position: Position { switchboard_task_position() }

  /// A context of a task that changes in place, which takes a tenth of the time of binding each one.
  package struct Slot {
    private let memory: UnsafeMutablePointer<switchboard_reference>?

    /// Binds the slot, which is empty, in the current task.
    package init() { memory = switchboard_bind_task_slot(key, type) }

    /// Makes `source` the context of the task, which does not retain it.
    package func set(_ source: (any ContextSource)?) {
      memory?.pointee = unsafeBitCast(TaskContext(source), to: switchboard_reference.self)
    }

    /// Retains the context, until it is unbound.
    package func keep() { _ = memory?.pointee.object.map { Unmanaged<AnyObject>.fromOpaque($0).retain() } }
  }
}
