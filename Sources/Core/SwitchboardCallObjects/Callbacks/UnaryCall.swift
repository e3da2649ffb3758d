import SwitchboardCall

/// A call with one request, whose response or stream of responses goes to a handler.
///
/// A started call runs to its end even if nothing retains it.
///
/// ```swift
/// let find = MethodClient(channel: channel).call(Stock.find)
/// let call = find.makeUnaryCall(Query(name: "kettle"), responseHandler: printer)
/// try call.start()
/// ```
public final class UnaryCall<Request: Sendable, Response: Sendable>: Sendable {
  private let call: HandledCall<Request, Response>

  @usableFromInline
  init(_ call: HandledCall<Request, Response>) {
    self.call = call
  }

  /// Sends the request. Throws `FAILED_PRECONDITION` the second time.
  public func start() throws(GRPCStatus) { try call.start() }

  /// Ends the call with `cancelled`, unless it has ended. A call that has not started can no longer start.
  public func cancel() { call.cancel() }

  /// Lets `count` more responses reach the handler, if the call's options enable flow control. Otherwise, all responses
  /// do. Throws `FAILED_PRECONDITION` before `start`.
  public func receiveNextMessages(_ count: Int) throws(GRPCStatus) { try call.receiveNextMessages(count) }
}

extension MethodCall {
  /// Creates a call with one request, whose responses go to a handler.
  @inlinable
  public func makeUnaryCall(
    _ request: Request,
    responseHandler: any ResponseHandler<Response>
  ) -> UnaryCall<Request, Response> {
    UnaryCall(HandledCall(self, request, responseHandler))
  }
}
