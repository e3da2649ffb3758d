/// A call that takes one request, and tells a handler of its responses: one, or a stream of them.
///
/// It goes on, once it is started, whether or not anyone keeps it.
public final class UnaryCall<Request: Sendable, Response: Sendable>: Sendable {
  private let call: HandledCall<Request, Response>
  /// What the call was made with.
  public let options: CallOptions

  @usableFromInline
  init(_ call: HandledCall<Request, Response>, _ options: CallOptions?) {
    self.call = call
    self.options = options ?? CallOptions()
  }

  /// Sends the request. Throws `FAILED_PRECONDITION` when it was called before.
  public func start() throws(GRPCStatus) { try call.start() }

  /// Ends the call with `cancelled`, unless it has ended. One that was not started never will be.
  public func cancel() { call.cancel() }

  /// Lets the handler have so many more responses, where the call's options enable flow control; without, it gets all
  /// of them anyway. Throws `FAILED_PRECONDITION` before the call is started.
  public func receiveNextMessages(_ count: Int) throws(GRPCStatus) { try call.receiveNextMessages(count) }
}
