// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

/// Work that is scheduled on a loop repeatedly without allocating: the object itself is the work.
package protocol LoopTask: AnyObject {
  /// Called on the loop.
  func runOnLoop()
}

/// A work item of a loop. Items from the same thread run in the order in which it added them.
package enum LoopWork: @unchecked Sendable {
  // Sendable although LoopTask is not: only the loop that receives an item runs it, and a task belongs to that loop.

  case job(UnownedJob)
  case task(any LoopTask)
  case closure(@Sendable () -> Void)
}

// MARK: - The executor

extension Loop {
  /// Runs the next step of a Swift task on the loop or, if that has ended, in the global pool.
  package func enqueue(_ job: consuming ExecutorJob) { run(.job(UnownedJob(job))) }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// The loop as a task executor preference.
  package func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  package func isIsolatingCurrentContext() -> Bool? { inEventLoop }

  package func checkIsolated() {
    precondition(inEventLoop, "isolated to an event loop, but not on its thread")
  }
}
