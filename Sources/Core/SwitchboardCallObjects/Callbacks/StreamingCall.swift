import SwitchboardCall

/// A call whose requests are written one by one, and whose response or stream of responses goes to a handler.
///
/// A started call runs until it is cancelled or the server ends it. Releasing it before `finish` ends it with `CANCELLED`.
///
/// ```swift
/// let call = MethodClient(channel: channel).call(Stock.follow).makeStreamingCall(responseHandler: printer)
/// try call.start()
/// try call.write(Query(name: "kettle"))
/// try call.finish()
/// ```
public final class StreamingCall<Request: Sendable, Response: Sendable>: Sendable {
  private let call: HandledCall<Request, Response>

  @usableFromInline
  init(_ call: HandledCall<Request, Response>) {
    self.call = call
  }

  /// Starts the call. Throws `FAILED_PRECONDITION` the second time.
  public func start() throws(GRPCStatus) { try call.start() }

  /// Queues a message. The handler is notified when there is room for another.
  ///
  /// Throws `FAILED_PRECONDITION` before `start` and after `finish` or `cancel`, and `RESOURCE_EXHAUSTED` when too many
  /// messages are waiting. Messages written after the server has ended the call are dropped.
  public func write(_ message: Request) throws(GRPCStatus) { try call.write(message) }

  /// Ends the requests. Throws `FAILED_PRECONDITION` before `start`, after `cancel`, and the second time.
  public func finish() throws(GRPCStatus) { try call.finish() }

  /// Ends the call with `cancelled`, unless it has ended. A call that has not started can no longer start.
  public func cancel() { call.cancel() }

  /// Lets `count` more responses reach the handler, if the call's options enable flow control. Otherwise, all responses
  /// do. Throws `FAILED_PRECONDITION` before `start`.
  public func receiveNextMessages(_ count: Int) throws(GRPCStatus) { try call.receiveNextMessages(count) }
}

extension MethodCall {
  /// Creates a call whose requests are written one by one, and whose responses go to a handler.
  @inlinable
  public func makeStreamingCall(
    responseHandler: any ResponseHandler<Response>
  ) -> StreamingCall<Request, Response> {
    StreamingCall(HandledCall(self, nil, responseHandler))
  }
}
