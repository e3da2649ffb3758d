/// Work that is scheduled on a loop repeatedly without allocating: the object itself is the work.
protocol LoopTask: AnyObject {
  /// Called on the loop.
  func runOnLoop()
}

/// A work item of a loop. Items from the same thread run in the order in which it added them.
enum LoopWork: @unchecked Sendable {
  // Sendable although LoopTask is not: only the loop that receives an item runs it, and a task belongs to that loop.

  case job(UnownedJob)
  case task(any LoopTask)
  case closure(@Sendable () -> Void)
}
