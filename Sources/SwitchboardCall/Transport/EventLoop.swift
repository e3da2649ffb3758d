/// One thread that runs a connection's work in turn, and on which Swift tasks can be run.
///
/// Code that already runs on the loop starts and resumes calls of that loop with no hop to another thread:
/// give the loop as a task's executor preference to be there.
public protocol EventLoop: TaskExecutor, SerialExecutor {
  /// Whether the caller runs on this loop's thread now.
  var inEventLoop: Bool { get }

  /// Runs the work on the loop, in the order of these calls and never before this one returns.
  ///
  /// Work is never dropped: where the loop has ended it runs elsewhere, one piece after the other, with `inEventLoop` true.
  /// Nothing that takes time happens there any more: no input or output, and no timers.
  func execute(_ work: @escaping @Sendable () -> Void)
}
