/// The messages of a streaming response, to be read once. It ends by itself when the call succeeded, and
/// throws the status when it did not.
@frozen
public struct ResponseStream<Response: Sendable>: AsyncSequence, Sendable {
  public typealias Element = Response

  @usableFromInline let reader: StreamReader
  @usableFromInline let decode: @Sendable (RawSpan) throws -> Response

  @inlinable
  init(_ reader: StreamReader, decode: @escaping @Sendable (RawSpan) throws -> Response) {
    self.reader = reader
    self.decode = decode
  }

  /// Ends the call; what was received before can still be read.
  public func cancel() { reader.call.cancel(.cancelledByCaller) }

  @inlinable
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader, decode: decode) }

  @frozen
  public struct AsyncIterator: AsyncIteratorProtocol {
    @usableFromInline let reader: StreamReader
    @usableFromInline let decode: @Sendable (RawSpan) throws -> Response

    @inlinable
    init(reader: StreamReader, decode: @escaping @Sendable (RawSpan) throws -> Response) {
      self.reader = reader
      self.decode = decode
    }

    @inlinable
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Response? {
      guard let message = try await reader.next() else { return nil }
      return try GRPCStatus.decoding { try message.withBytes(decode) }
    }
  }
}
