public import Dispatch

/// Where an interceptor handles its parts, in place of the call's event loop.
///
/// What is handed to it runs one piece after the other and in order, whatever it stands on: a concurrent queue or a
/// pool of threads is taken in turn. Give several interceptors the same one to keep them out of each other's way;
/// give each call one of its own to let calls run beside each other.
public final class InterceptorExecutor: Sendable {
  typealias Work = @Sendable () -> Void

  private struct State: Sendable {
    var work = Queue<Work>()
    var isRunning = false
  }

  private let state = Locked(State())
  private let dispatch: @Sendable (@escaping Work) -> Void

  /// After so many pieces of work, others that share the threads get a turn.
  private static let batch = 64

  /// Stands on a queue, serial or not.
  public init(queue: DispatchQueue) {
    dispatch = { work in queue.async(execute: work) }
  }

  /// Stands on an executor that runs one thing at a time.
  public init(serialExecutor: any SerialExecutor) {
    let runner = Runner(serialExecutor)
    dispatch = { work in Task { await runner.run(work) } }
  }

  /// Stands on an executor that tasks can prefer.
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

/// Brings work to an executor that has no other way in.
private actor Runner {
  private let executor: any SerialExecutor

  init(_ executor: any SerialExecutor) {
    self.executor = executor
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func run(_ work: InterceptorExecutor.Work) { work() }
}
/// The executors that one interceptor names.
@frozen
@usableFromInline
struct InterceptorExecutors: Sendable {
  /// Where it takes parts on their way to the transport, and on their way from it.
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
