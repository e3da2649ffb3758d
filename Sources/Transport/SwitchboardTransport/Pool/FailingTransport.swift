import Dispatch
import SwitchboardCall

/// A transport whose calls all fail with one status, so that creating a client never fails.
final class FailingTransport: ByteTransport {
  private let status: GRPCStatus
  private let loop = QueueLoop()

  init(_ status: GRPCStatus) { self.status = status }

  var eventLoop: any EventLoop { loop }
  var host: String { "" }
  var streamBufferSize: Int { 256 * 1024 }
  var resolvedConfig: ResolvedConfig? { nil }

  func makeCall(_ request: CallRequest, receiver: any ResponseReceiver) -> any ByteCall {
    RefusedCall(request, loop, receiver, status)
  }

  func connect() {}

  func retire() {}

  func shutDown(grace: Duration) async {}
}

/// An event loop over a dispatch queue, used when no thread for a real loop is available.
final class QueueLoop: EventLoop {
  private let queue = DispatchQueue(label: "switchboard.failing")
  private let mark = DispatchSpecificKey<Bool>()

  init() { queue.setSpecific(key: mark, value: true) }

  var inEventLoop: Bool { DispatchQueue.getSpecific(key: mark) == true }

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
}
