/// Work that is put on a loop again and again without allocating: the object is the work.
class LoopTask {
  /// Called on the loop.
  func runOnLoop() {}
}

/// One thing for a loop to do. Entries run in the order in which one thread put them in.
enum LoopWork: @unchecked Sendable {
  // Sendable holds although LoopTask is not: work is only ever run by the loop that it is given to, and a
  // task belongs to that loop.

  case job(UnownedJob)
  case task(LoopTask)
  case closure(@Sendable () -> Void)
}
