/// The messages that a client streams, to be read once, by one task at a time.
///
/// Reading is what lets the client send more: a handler that stops reading stops the client.
@frozen
public struct RequestStream<Request: Sendable>: AsyncSequence, Sendable {
  public typealias Element = Request

  @usableFromInline let pipe: MessagePipe
  @usableFromInline let decode: @Sendable (RawSpan) throws -> Request

  /// The messages of a pipe, decoded when they are read, by whoever reads.
  @inlinable
  public init(_ pipe: MessagePipe, decode: @escaping @Sendable (RawSpan) throws -> Request) {
    self.pipe = pipe
    self.decode = decode
  }

  @inlinable
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pipe: pipe, decode: decode) }

  @frozen
  public struct AsyncIterator: AsyncIteratorProtocol {
    @usableFromInline let pipe: MessagePipe
    @usableFromInline let decode: @Sendable (RawSpan) throws -> Request

    @inlinable
    init(pipe: MessagePipe, decode: @escaping @Sendable (RawSpan) throws -> Request) {
      self.pipe = pipe
      self.decode = decode
    }

    @inlinable
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Request? {
      guard let message = try await pipe.next() else { return nil }
      return try GRPCStatus.decoding { try message.withBytes(decode) }
    }
  }
}
