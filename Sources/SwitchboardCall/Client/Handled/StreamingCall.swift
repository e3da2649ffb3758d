/// A call whose requests are written one by one, and that tells a handler of its responses: one, or a stream of them.
///
/// It goes on, once it is started, until it is finished, cancelled or ended by the server. Letting go of it finishes
/// its requests.
public final class StreamingCall<Request: Sendable, Response: Sendable>: Sendable {
  private let call: HandledCall<Request, Response>
  /// What the call was made with.
  public let options: CallOptions

  @usableFromInline
  init(_ call: HandledCall<Request, Response>, _ options: CallOptions?) {
    self.call = call
    self.options = options ?? CallOptions()
  }

  /// Sends the call on its way. Throws `FAILED_PRECONDITION` when it was called before.
  public func start() throws(GRPCStatus) { try call.start() }

  /// Sends a message, after those that were written before. The handler is told when there is room for another.
  ///
  /// Throws `FAILED_PRECONDITION` before `start`, after `finish` and after `cancel`, and `RESOURCE_EXHAUSTED` when too
  /// many messages wait to be sent. Once the server has ended the call, a message goes nowhere.
  public func write(_ message: Request) throws(GRPCStatus) { try call.write(message) }

  /// Says that no message follows. Throws `FAILED_PRECONDITION` before `start`, after `cancel`, and the second time.
  public func finish() throws(GRPCStatus) { try call.finish() }

  /// Ends the call with `cancelled`, unless it has ended. One that was not started never will be.
  public func cancel() { call.cancel() }

  /// Lets the handler have so many more responses, where the call's options enable flow control; without, it gets all
  /// of them anyway. Throws `FAILED_PRECONDITION` before the call is started.
  public func receiveNextMessages(_ count: Int) throws(GRPCStatus) { try call.receiveNextMessages(count) }
}
