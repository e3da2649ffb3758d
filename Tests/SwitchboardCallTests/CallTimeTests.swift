import CallTestSupport
import SwitchboardCall
import Testing

@Suite struct CallTimeTests {
  /// A loop that has ended has no timers, but tasks that sleep on it must still resume.
  @Test(.timeLimit(.minutes(5))) func sleepingTasksSurviveTheEndOfTheirLoop() async throws {
    let loop = EndedLoop()
    try await SystemTime().sleep(until: .now, on: loop)
    await withCheckedContinuation { continuation in
      _ = SystemTime().alarm(at: .now, on: loop) { continuation.resume() }
    }
    let cancelled = Task { try await SystemTime().sleep(until: .now + .seconds(3600), on: loop) }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }

  /// No timeout that a caller can choose leads to a sum that traps.
  @Test func noTimeoutOverflowsTheDeadline() {
    let time = ManualTime()
    let longest = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999)
    #expect(time.deadline(after: longest).time > time.now + .seconds(1_000_000_000))
    #expect(time.deadline(after: Duration(secondsComponent: .min, attosecondsComponent: 0)).time == time.now)
    #expect(time.deadline(after: .seconds(3)).time == time.now + .seconds(3))
  }
}

/// Runs work but has no timers, like a loop that has ended.
private final class EndedLoop: TimedEventLoop {
  private let queue = TestLoop()

  var inEventLoop: Bool { queue.inEventLoop }

  func execute(_ work: @escaping @Sendable () -> Void) { queue.execute(work) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.execute {
      job.runSynchronously(
        isolatedTo: self.asUnownedSerialExecutor(),
        taskExecutor: self.asUnownedTaskExecutor()
      )
    }
  }

  // Not the queue's executors: a task retains this executor, and releases the one that these methods return.

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  func sleep(for duration: Duration, isPrecise: Bool) async throws { throw CancellationError() }
}
