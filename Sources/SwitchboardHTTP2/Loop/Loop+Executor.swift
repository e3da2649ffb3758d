extension Loop {
  /// Runs a Swift task's next step on the loop; in its place, in the global pool, if the loop has ended.
  public func enqueue(_ job: consuming ExecutorJob) { run(.job(UnownedJob(job))) }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// The loop as what a task may prefer.
  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  public func isIsolatingCurrentContext() -> Bool? { inEventLoop }

  public func checkIsolated() {
    precondition(inEventLoop, "isolated to an event loop, but not on its thread")
  }
}
