import Dispatch
import SwitchboardCall

/// An event loop without I/O.
final class TestLoop: EventLoop {
  private let queue = DispatchQueue(label: "test loop")
  private let key = DispatchSpecificKey<Bool>()

  init() { queue.setSpecific(key: key, value: true) }

  var inEventLoop: Bool { DispatchQueue.getSpecific(key: key) == true }

  func execute(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      job.runSynchronously(
        isolatedTo: self.asUnownedSerialExecutor(),
        taskExecutor: self.asUnownedTaskExecutor()
      )
    }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  func checkIsolated() {}
}
