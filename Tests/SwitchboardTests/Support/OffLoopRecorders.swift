import EchoService
import Switchboard

/// Records the parts that pass, on its own executors.
final class OffLoopClientRecorder: EchoClientInterceptor {
  private let recorder: ClientRecorder
  private let log: Log
  private let executors: (InterceptorExecutor, InterceptorExecutor)

  init(_ name: String, _ log: Log, _ requests: InterceptorExecutor, _ responses: InterceptorExecutor) {
    recorder = ClientRecorder(name, log)
    self.log = log
    executors = (requests, responses)
  }

  override var requestExecutor: InterceptorExecutor? { executors.0 }
  override var responseExecutor: InterceptorExecutor? { executors.1 }

  override func send(
    _ part: GRPCClientRequestPart<Echo_EchoRequest>,
    promise: EventLoopPromise<Void>?,
    context: EchoClientContext
  ) {
    if context.eventLoop.inEventLoop { log.note("on the loop") }
    recorder.send(part, promise: promise, context: context)
  }

  override func receive(_ part: GRPCClientResponsePart<Echo_EchoResponse>, context: EchoClientContext) {
    if context.eventLoop.inEventLoop { log.note("on the loop") }
    recorder.receive(part, context: context)
  }

  override func errorCaught(_ error: any Error, context: EchoClientContext) {
    recorder.errorCaught(error, context: context)
  }

  override func cancel(promise: EventLoopPromise<Void>?, context: EchoClientContext) {
    recorder.cancel(promise: promise, context: context)
  }
}

/// The same on the server.
final class OffLoopServerRecorder: EchoServerInterceptor {
  private let recorder: ServerRecorder
  private let log: Log
  private let executors: (InterceptorExecutor, InterceptorExecutor)

  init(_ name: String, _ log: Log, _ requests: InterceptorExecutor, _ responses: InterceptorExecutor) {
    recorder = ServerRecorder(name, log)
    self.log = log
    executors = (requests, responses)
  }

  override var requestExecutor: InterceptorExecutor? { executors.0 }
  override var responseExecutor: InterceptorExecutor? { executors.1 }

  override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {
    if context.eventLoop.inEventLoop { log.note("on the loop") }
    recorder.receive(part, context: context)
  }

  override func send(
    _ part: GRPCServerResponsePart<Echo_EchoResponse>,
    promise: EventLoopPromise<Void>?,
    context: EchoServerContext
  ) {
    if context.eventLoop.inEventLoop { log.note("on the loop") }
    recorder.send(part, promise: promise, context: context)
  }
}
