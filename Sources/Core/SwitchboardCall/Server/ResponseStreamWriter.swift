/// Sends the responses of a call that streams them.
///
/// ```swift
/// func expand(
///   request: Note, responses: ResponseStreamWriter<Note>, context: ServerCallContext
/// ) async throws {
///   for word in request.text.split(separator: " ") { try await responses.send(Note(text: String(word))) }
/// }
/// ```
@frozen
public struct ResponseStreamWriter<Response: Sendable>: Sendable {
  @usableFromInline
  @frozen
  enum Sink: Sendable {
    /// Straight to the transport.
    case bytes(any ServerStream, @Sendable (Response) throws -> MessageBuffer)
    /// Through a chain of interceptors.
    case parts(PartWriter<Response>)
  }

  @usableFromInline let sink: Sink

  /// Sends responses to the transport, encoded on the sender's executor. `send` rethrows the errors of `encode`.
  @inlinable
  package init(_ stream: any ServerStream, encode: @escaping @Sendable (Response) throws -> MessageBuffer) {
    sink = .bytes(stream, encode)
  }

  @inlinable
  init(_ writer: PartWriter<Response>) { sink = .parts(writer) }

  /// Sends a message, and returns when there is room for another. Throws if the call has ended.
  ///
  /// `MessageMetadata` describes `compress` and `flush`.
  @inlinable
  nonisolated(nonsending) public func send(
    _ response: Response,
    compress: Bool = true,
    flush: Bool = true
  ) async throws {
    switch sink {
    case .bytes(let stream, let encode):
      var message = try encode(response)
      message.mayCompress = compress
      try await stream.responses.write(message, flush: flush)
    case .parts(let writer):
      try await writer.write(response, MessageMetadata(compress: compress, flush: flush))
    }
  }

  /// Sends every message of a sequence.
  @inlinable
  nonisolated(nonsending) public func send(contentsOf responses: some Sequence<Response>) async throws {
    for response in responses { try await send(response) }
  }
}

extension ResponseStreamWriter {
  @available(*, unavailable, renamed: "send(_:)")
  public func write(_ response: Response) async throws {}

  @available(*, unavailable, message: "the responses end when the handler returns")
  public func finish() {}
}
