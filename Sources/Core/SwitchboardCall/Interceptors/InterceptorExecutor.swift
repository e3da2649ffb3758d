import Dispatch

/// An executor that runs an interceptor's methods instead of the call's event loop.
///
/// Work runs in order and one piece at a time, even on a concurrent queue or a thread pool. Interceptors that share an
/// executor never run in parallel; with an executor for each call, calls run in parallel.
///
/// ```swift
/// final class Slow<Request: Sendable, Response: Sendable>: ClientInterceptor<Request, Response> {
///   private let executor = InterceptorExecutor(queue: DispatchQueue(label: "slow"))
///   override var requestExecutor: InterceptorExecutor? { executor }
///   override var responseExecutor: InterceptorExecutor? { executor }
/// }
/// ```
public final class InterceptorExecutor: Sendable {
  typealias Work = @Sendable () -> Void

  private struct State: Sendable {
    var work = Queue<Work>()
    var isRunning = false
  }

  private let state = Locked(State())
  private let dispatch: @Sendable (@escaping Work) -> Void

  /// How many pieces of work run before others that share the threads get a turn.
  private static let batch = 64

  /// Creates an executor that runs work on a queue, serial or concurrent.
  public init(queue: DispatchQueue) {
    dispatch = { work in queue.async(execute: work) }
  }

  /// Creates an executor that runs work on a serial executor.
  public init(serialExecutor: any SerialExecutor) {
    let runner = Runner(serialExecutor)
    dispatch = { work in Task { await runner.run(work) } }
  }

  /// Creates an executor that runs work on a task executor.
  public init(taskExecutor: any TaskExecutor) {
    dispatch = { work in Task(executorPreference: taskExecutor) { work() } }
  }

  func execute(_ work: @escaping Work) {
    let isIdle = state.withLock { state in
      state.work.append(work)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if isIdle { dispatch { self.drain() } }
  }

  private func drain() {
    for _ in 0..<Self.batch {
      guard let work = next() else { return }
      work()
    }
    dispatch { self.drain() }
  }

  private func next() -> Work? {
    state.withLock { state in
      if let work = state.work.popFirst() { return work }
      state.isRunning = false
      return nil
    }
  }
}

/// Runs work on a serial executor, which only an actor can use.
private actor Runner {
  private let executor: any SerialExecutor

  init(_ executor: any SerialExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func run(_ work: InterceptorExecutor.Work) { work() }
}
/// The executors that one interceptor names.
@frozen
@usableFromInline
struct InterceptorExecutors: Sendable {
  /// For parts on their way to the transport, and from it.
  @usableFromInline let sent: InterceptorExecutor?
  @usableFromInline let received: InterceptorExecutor?

  @inlinable
  init(sent: InterceptorExecutor?, received: InterceptorExecutor?) {
    self.sent = sent
    self.received = received
  }

  @inlinable
  var areNamed: Bool { sent != nil || received != nil }
}
