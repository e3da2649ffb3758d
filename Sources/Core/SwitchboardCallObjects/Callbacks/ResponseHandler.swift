import Dispatch
import SwitchboardCall

/// Receives the responses of a call on a dispatch queue. Metadata and sent messages may be ignored; responses and the end of
/// the call may not, so that a method whose name is misspelled does not compile. Of the others, the compiler warns if an extension
/// declares the conformance and has the methods.
///
/// They are called one at a time and in order, even on a concurrent queue; the call retains the handler until `closed`.
/// The next response is read only when the last method has returned, so a slow handler slows down the server.
///
/// ```swift
/// final class Printer: ResponseHandler {
///   let dispatchQueue = DispatchQueue(label: "replies")
///   func receivedMessage(_ reply: Hello_GreetReply) { print(reply.text) }
///   func closed(trailingMetadata: HPACKHeaders, error: GRPCStatus?) { print(error ?? .ok) }
/// }
/// ```
public protocol ResponseHandler<Response>: AnyObject, Sendable {
  /// The response message.
  associatedtype Response: Sendable

  /// The queue on which the methods are called.
  var dispatchQueue: DispatchQueue { get }

  /// Receives the metadata before the first response. Not called if the call fails first.
  func receivedInitialMetadata(_ initialMetadata: HPACKHeaders)
  /// Receives a response.
  func receivedMessage(_ message: Response)
  /// A written message has been accepted for sending, and there is room for another. Called once for each message.
  func wroteMessage()
  /// The call has ended. Called exactly once, last. `error` is `nil` if the call succeeded. A call that is released before
  /// it was started has ended too.
  func closed(trailingMetadata: HPACKHeaders, error: GRPCStatus?)
}

extension ResponseHandler {
  public func receivedInitialMetadata(_ initialMetadata: HPACKHeaders) {}
  public func wroteMessage() {}
}
