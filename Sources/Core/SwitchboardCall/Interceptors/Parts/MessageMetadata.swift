/// How to send one message.
///
/// ```swift
/// let metadata = MessageMetadata(compress: false)
/// context.send(.message(request, metadata), promise: nil)
/// ```
@frozen
public struct MessageMetadata: Hashable, Sendable {
  /// Whether to compress the message, if the call uses compression.
  public var compress: Bool
  /// Whether to send the message now. Otherwise it may wait for the next message with `flush`, for the end of its
  /// stream, or until much is waiting. Messages written in one turn of the loop are sent together anyway.
  public var flush: Bool

  /// By default, sends the message at once, compressed if the call is.
  @inlinable
  public init(compress: Bool = true, flush: Bool = true) {
    self.compress = compress
    self.flush = flush
  }
}
