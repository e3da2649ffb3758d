// unsafe: nghttp2: one owner a session, callbacks within one call into it

import SwitchboardCall

/// One HTTP/2 stream, as its session sees it. The streams of servers and of clients conform to it.
///
/// No requirement has a default: a stream that ignores an event has an empty method that says why.
///
/// nghttp2 is running when these methods are called, except for `processReady`. They must not call `receive` or `drain`
/// of the session. They may submit frames.
protocol SessionStream: StreamEntry {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// Receives a header field, which the stream may add to `fields`.
  func receiveHeader(_ name: Bytes, _ value: Bytes, _ fields: FieldCollector)

  /// Receives the header `traceparent` of a request, before the others, if the session takes it from the frame.
  func receiveTraceParent(_ identity: SpanIdentity)

  /// Receives a head that another stream has kept, instead of the same fields.
  func receiveHead(_ kept: any KeptHead)

  /// The head of a request, for other streams. `nil` if they have to receive its fields. Asked for after `headersDidEnd`.
  var keptHead: (any KeptHead)? { get }

  /// Called at the end of a header block: the request's, a response's, or the trailers'.
  func headersDidEnd(endsStream: Bool, _ fields: FieldCollector)

  /// Returns the header that is added to those of a request as these are sent, if it was announced.
  func takeTraceParent() -> SpanIdentity?

  /// Receives bytes, which stay valid until the connection has processed its ready streams.
  func receiveData(_ bytes: UnsafeRawBufferPointer)

  /// Called when a DATA frame that ends the peer's side was received.
  func remoteDidEnd()

  /// Called when this side's headers could not be sent. The stream ends without them.
  func headersWereRefused(_ status: GRPCStatus)

  /// Called when the last frame of this side was passed to the connection.
  func localDidEnd()

  /// Copies what it has not used of the bytes that it received, which will not stay valid: `processReady` has to wait.
  func keepLent()

  /// Called exactly once, after all other events.
  func didClose(_ code: UInt32)

  /// Returns the next piece of the body, at most `buffer.count` bytes.
  func readBody(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead

  /// Returns the bytes that `readBody` announced with `borrowed`.
  func takeBorrowed(_ count: Int) -> (MessageBuffer, UnsafeRawBufferPointer)?

  /// Returns the trailers that follow the body. `headers` still has the block that was submitted last, until it is
  /// reset.
  func trailers(into headers: HeaderWriter) -> Trailers

  /// Does what the other methods postponed, after the session has processed everything that was read.
  func processReady()
}

/// What a stream keeps of its request's head, for the streams whose heads are equal.
protocol KeptHead: AnyObject {
  /// The value of a field that is no pseudo header.
  func value(of name: String) -> String?
}

enum Trailers {
  case none
  /// Those of a call that succeeded without metadata of its own.
  case success
  /// They are in the header writer that was passed.
  case written
}

/// The next piece of a stream's body.
enum BodyRead {
  /// This many bytes were copied; more may follow.
  case copied(Int)
  /// This many bytes are to be sent from where they are; `takeBorrowed` returns them. If they are known to be the last
  /// ones, no empty frame has to follow to end the stream.
  case borrowed(Int, isLast: Bool)
  /// Nothing for now. The stream resumes the session when it has more.
  case wait
  /// This many bytes were copied, and they are the last ones.
  case last(Int)
}
