/// Sends the messages of a streaming response.
@frozen
public struct ResponseStreamWriter<Response: Sendable>: Sendable {
  @usableFromInline let stream: any ServerStream
  @usableFromInline let encode: @Sendable (Response) throws -> MessageBuffer

  /// Writes to a stream's responses; messages are encoded on the sender's executor.
  @inlinable
  public init(_ stream: any ServerStream, encode: @escaping @Sendable (Response) throws -> MessageBuffer) {
    self.stream = stream
    self.encode = encode
  }

  /// Sends a message, and returns once there is room for another. Throws once the call has ended.
  @inlinable
  nonisolated(nonsending) public func send(_ response: Response) async throws {
    let message = try GRPCStatus.encoding { try encode(response) }
    try await stream.responses.write(message)
  }

  /// Sends every message of a sequence.
  @inlinable
  nonisolated(nonsending) public func send(contentsOf responses: some Sequence<Response>) async throws {
    for response in responses { try await send(response) }
  }
}
