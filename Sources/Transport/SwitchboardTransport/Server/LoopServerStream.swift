import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork

/// The server's side of a call, over a network or within the process. Its work is done on a loop.
protocol LoopServerStream: ServerStream {
  var loop: Loop { get }
  /// The task of the handler, which ends with the call.
  var task: Task<Void, any Error>? { get }
  var observation: StreamObservation { get set }

  /// Whether the handler is still to answer the call.
  var isHandling: Bool { get }
  /// Whether a handler whose call has ended must be cancelled.
  var isHandlerCancelled: Bool { get }
  /// Whether the call has ended, and its handler has returned.
  var handlerIsOver: Bool { get }

  /// A handler has done this, although its call was ended by others before. Called on the loop.
  func endWasIgnored(_ action: LateAction)

  /// Keeps the task of the handler, which has suspended, or runs elsewhere.
  func keep(_ task: consuming Task<Void, any Error>)

  var serverOptions: ServerOptions { get }
  var serverLog: ServerLog { get }
  /// What logs call the call and its method. Read on any thread, but not before its handler or its interceptors have
  /// started.
  var nameInLogs: String { get }
}

extension LoopServerStream {
  func observe(_ observer: any ServerStreamObserver, sent: Bool) {
    if !observation.add(observer, sent: sent) { observer.closed(observation.failure) }
  }

  /// Reports a part of the response that was sent, if the observer wants to know.
  func reportSent(_ part: SentPart) {
    if observation.reportsSent { observation.observer?.sent(part) }
  }

  /// Reports the end of the call, once.
  func reportClosed(_ failure: GRPCStatus?) {
    guard let observer = observation.end(failure) else { return }
    if let failure, case let holders = observer.holders, !holders.isEmpty {
      serverLog.report(held: failure, by: holders, detailsForLogs, on: loop)
    }
    observer.closed(failure)
  }

  /// A handler whose call was ended by others is not to blame. What is sent or read is late only once the handler has returned.
  func wasTooLate(_ action: LateAction) {
    guard action != .initialMetadata, action != .compression else {
      return isHandlerCancelled ? () : report(action)
    }
    guard loop.inEventLoop else { return loop.execute { self.wasTooLate(action) } }
    if isHandlerCancelled {
      endWasIgnored(action)
    } else if handlerIsOver {
      report(action)
    }
  }

  func interceptorsFailed(_ status: GRPCStatus, _ interceptors: [AnyObject]) {
    serverLog.report(fault: status, of: interceptors, detailsForLogs, on: loop)
  }

  private func report(_ late: LateAction) { serverLog.report(late, detailsForLogs, on: loop) }

  /// Reports a load, of the call or else of the server, that is hardly meant.
  func checkLoad(_ load: (any CallLoad)?, _ recorder: LoadRecorder?) {
    guard let doubt = load.flatMap({ LoadReport($0).doubt }) ?? recorder?.report.doubt else { return }
    serverLog.report(load: doubt, detailsForLogs, on: loop)
  }

  /// Whether the call waits for one of its interceptors.
  var isHeld: Bool { observation.observer?.holders.isEmpty == false }

  var logger: Logger { serverOptions.logger.ofMethod(method.path) }

  func status(of error: any Error) -> GRPCStatus {
    serverLog.status(of: error, hasEnded: isCancelled, detailsForLogs, on: loop)
  }

  func status(ofEncoding error: any Error) -> GRPCStatus {
    serverLog.status(ofEncoding: error, detailsForLogs, on: loop)
  }

  /// The status of a call whose own code has set metadata that HTTP does not allow.
  func status(ofUnsendable failure: GRPCStatus) -> GRPCStatus {
    serverLog.status(ofUnsendable: failure, detailsForLogs, on: loop)
  }

  /// Such metadata is larger than the client accepts.
  func report(oversized failure: GRPCStatus) {
    serverLog.report(oversized: failure, detailsForLogs, on: loop)
  }

  private var detailsForLogs: ServerLog.Details {
    (method.path, ["call": nameInLogs, "peer": peer.address])
  }

  func handlerRuns(_ task: consuming Task<Void, any Error>) {
    // The part of the handler that has already run may have ended the call.
    // The cancellation is deferred, so that a handler that it resumes continues after the interceptors, which observe
    // the call only now, have been notified.
    if isHandling {
      keep(task)
    } else if isHandlerCancelled {
      let task = task
      loop.execute { task.cancel() }
    }
  }
}
