import Dispatch

/// A transport whose calls all fail with one status, so that creating a client never fails.
package final class FailingTransport: ByteTransport {
  private let status: GRPCStatus
  private let loop = QueueLoop()

  package init(_ status: GRPCStatus) { self.status = status }

  package var eventLoop: any EventLoop { loop }
  package var host: String { "" }
  package var streamBufferSize: Int { 256 * 1024 }
  package var resolvedConfig: ResolvedConfig? { nil }

  package func makeCall(_ request: CallRequest, receiver: any ResponseReceiver) -> any ByteCall {
    RefusedCall(request, loop, receiver, status)
  }

  package func connect() {}

  package func retire() {}

  package func shutDown(grace: Duration) async {}
}

/// A call that fails as soon as it starts.
package final class RefusedCall: ByteCall {
  private let request: CallRequest
  private let loop: any EventLoop
  private let receiver: any ResponseReceiver
  private let status: GRPCStatus

  package init(
    _ request: CallRequest,
    _ loop: any EventLoop,
    _ receiver: any ResponseReceiver,
    _ status: GRPCStatus
  ) {
    self.request = request
    self.loop = loop
    self.receiver = receiver
    self.status = status
  }

  package func start() {
    if case .stream(let pipe) = request.body { pipe.abort(status) }
    loop.execute {
      self.request.traceEnd(self.status)
      self.receiver.close(self.status, trailers: HPACKHeaders())
    }
  }

  package func poll(until isReady: () -> Bool) {}

  package func cancel(_ status: GRPCStatus) {}
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
