/// Sends the requests of a streaming call.
@frozen
public struct RequestStreamWriter<Request: Sendable>: Sendable {
  @usableFromInline let pipe: MessagePipe
  @usableFromInline let encode: @Sendable (Request) throws -> MessageBuffer

  @inlinable
  init(_ pipe: MessagePipe, encode: @escaping @Sendable (Request) throws -> MessageBuffer) {
    self.pipe = pipe
    self.encode = encode
  }

  /// Sends a message, and returns once there is room for another. Throws once the call has ended.
  @inlinable
  nonisolated(nonsending) public func send(_ request: Request) async throws {
    try await pipe.write(try GRPCStatus.encoding { try encode(request) })
  }

  /// Says that no more requests follow.
  public func finish() { pipe.finish() }
}
