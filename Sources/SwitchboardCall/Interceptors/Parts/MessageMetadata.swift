/// How one message is to be sent.
@frozen
public struct MessageMetadata: Hashable, Sendable {
  /// Whether to compress the message, where the call uses compression.
  public var compress: Bool
  /// Whether the message should leave now. One that need not may wait for the next that should, for the end of its
  /// stream, or until much is waiting. Messages written in one turn of the loop leave together anyway.
  public var flush: Bool

  /// As the call has it, and at once, unless said otherwise.
  @inlinable
  public init(compress: Bool = true, flush: Bool = true) {
    self.compress = compress
    self.flush = flush
  }
}
