extension Loop {
  /// Runs a Swift task's next step on the loop; in the global pool if the loop has ended.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // A task can outlive the loop it preferred; it then goes on in the global pool.
    if !add(.job(job)) { globalConcurrentExecutor.enqueue(job) }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// The loop as what a task may prefer.
  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  public func isIsolatingCurrentContext() -> Bool? { inEventLoop }

  public func checkIsolated() {
    precondition(inEventLoop, "isolated to an event loop, but not on its thread")
  }
}
