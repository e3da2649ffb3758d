// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import CLibuv
import SwitchboardCall

/// Threads for handlers that block. Each job has one for itself, up to a limit. A thread that was started stays, and
/// sleeps while it has nothing to do.
package final class HandlerThreads: TaskExecutor, @unchecked Sendable {
  // Sendable because the state has a lock, and any thread may use a semaphore.
  package static let shared = HandlerThreads()
  private static let most = 64

  private struct State {
    var jobs = Queue<UnownedJob>()
    var threads = 0
    var idle = 0

    /// Adds a job. Returns whether it needs a thread that does not exist yet.
    mutating func add(_ job: UnownedJob) -> Bool {
      jobs.append(job)
      guard jobs.count > idle, threads < HandlerThreads.most else { return false }
      threads += 1
      return true
    }
  }

  private let state = Locked(State())
  private let semaphore = UnsafeMutablePointer<uv_sem_t>.allocate(capacity: 1)

  private init() { uv_sem_init(semaphore, 0) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if state.withLock({ $0.add(job) }), !DetachedThread.start({ self.run() }) {
      // Without any thread, nobody else would run them.
      for job in abandonedJobs() { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }
    // A thread that finds no job waits again.
    uv_sem_post(semaphore)
  }

  /// All jobs, if there are no threads at all.
  private func abandonedJobs() -> [UnownedJob] {
    state.withLock { state in
      state.threads -= 1
      var left: [UnownedJob] = []
      while state.threads == 0, let job = state.jobs.popFirst() { left.append(job) }
      return left
    }
  }

  private func run() {
    while true {
      state.withLock { $0.idle += 1 }
      uv_sem_wait(semaphore)
      let job = state.withLock { state in
        state.idle -= 1
        return state.jobs.popFirst()
      }
      job?.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
