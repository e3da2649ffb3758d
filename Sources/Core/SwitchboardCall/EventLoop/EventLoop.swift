/// A thread that runs a connection's work in order, and that can run Swift tasks.
///
/// Code on the loop starts and resumes its calls without changing threads: give a task the loop as its executor
/// preference.
///
/// ```swift
/// let client = Hello_GreeterClient(channel: channel)
/// let reply = Task(executorPreference: channel.eventLoop) { try await client.get(request) }
/// print(try await reply.value.text)
/// ```
public protocol EventLoop: TaskExecutor, SerialExecutor {
  /// Whether the caller runs on this loop's thread.
  var inEventLoop: Bool { get }

  /// Runs work on the loop, in the order of the calls and never before this method returns.
  ///
  /// Work is never dropped. After the loop has ended, work runs on other threads, one piece at a time, with
  /// `inEventLoop` still true; I/O and timers no longer work.
  func execute(_ work: @escaping @Sendable () -> Void)
}
