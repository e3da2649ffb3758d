import Dispatch
import Foundation
import SwitchboardCall

/// Threads for code that blocks. A job runs on an idle thread or on a new one, so that none waits for another's peer.
/// Swift's own thread pool has only as many threads as the machine has cores: two tests that block them would deadlock
/// with the handlers that should run there.
final class BlockingThreads: TaskExecutor {
  static let shared = BlockingThreads()

  private struct State {
    var jobs: [UnownedJob] = []
    var idle = 0
  }

  private let state = Locked(State())
  private let wake = DispatchSemaphore(value: 0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isOneIdle = state.withLock {
      $0.jobs.append(job)
      guard $0.idle > 0 else { return false }
      $0.idle -= 1
      return true
    }
    if isOneIdle { wake.signal() } else { start() }
  }

  private func start() {
    Thread { self.serve() }.start()
  }

  private func serve() -> Never {
    Thread.current.threadDictionary[Self.mark] = true
    while true {
      let job: UnownedJob? = state.withLock {
        guard $0.jobs.isEmpty else { return $0.jobs.removeFirst() }
        $0.idle += 1
        return nil
      }
      if let job { job.runSynchronously(on: asUnownedTaskExecutor()) } else { wake.wait() }
    }
  }

  private static let mark = "may block"

  /// Whether the caller runs on one of these threads.
  static var isOne: Bool { Thread.current.threadDictionary[mark] != nil }
}
