public import Dispatch

/// Is told of the responses of a call, on a queue of its own. What it does not write does nothing.
///
/// It is told of one thing at a time and in order, also where the queue is a concurrent one; the call keeps it until
/// `closed`. The next response is not read before it is done with the last: a slow handler makes the server wait.
public protocol ResponseHandler<Response>: AnyObject, Sendable {
  /// What the call answers with.
  associatedtype Response: Sendable

  /// Where the other methods are called.
  var dispatchQueue: DispatchQueue { get }

  /// The metadata before the first response. Not told when the call fails before it.
  func receivedInitialMetadata(_ initialMetadata: HPACKHeaders)
  /// A response.
  func receivedMessage(_ message: Response)
  /// A message that was written has been taken over for sending, and there is room for another. Told once for each.
  func wroteMessage()
  /// The end, told exactly once and last. `error` is `nil` when the call succeeded.
  func closed(trailingMetadata: HPACKHeaders, error: GRPCStatus?)
}

extension ResponseHandler {
  public func receivedInitialMetadata(_ initialMetadata: HPACKHeaders) {}
  public func receivedMessage(_ message: Response) {}
  public func wroteMessage() {}
  public func closed(trailingMetadata: HPACKHeaders, error: GRPCStatus?) {}
}
