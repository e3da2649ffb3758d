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
