/// Sends the requests of a streaming call.
@frozen
public struct RequestStreamWriter<Request: Sendable>: Sendable {
  @usableFromInline
  @frozen
  enum Sink: Sendable {
    /// Straight to the transport.
    case bytes(MessagePipe, @Sendable (Request) throws -> MessageBuffer)
    /// Through a chain of interceptors, which the closure tells of the end.
    case parts(PartWriter<Request>, @Sendable () -> Void)
    /// Nowhere: the call has all of its requests.
    case ended
  }

  @usableFromInline let sink: Sink

  /// Writes the requests of `call`, which ends when one of them cannot be encoded.
  @inlinable
  init(
    _ call: any ByteCall,
    _ pipe: MessagePipe,
    encode: @escaping @Sendable (Request) throws -> MessageBuffer
  ) {
    sink = .bytes(pipe) { request in try GRPCStatus.encoding(for: call, pipe) { try encode(request) } }
  }

  /// Writes nothing: the requests of a call that has all of them.
  @inlinable
  init() { sink = .ended }

  @inlinable
  init<Response>(_ pipeline: ClientPipeline<Request, Response>) {
    sink = .parts(pipeline.makeWriter()) { pipeline.finishRequests() }
  }

  /// Sends a message, and returns once there is room for another. Throws once the call has ended.
  ///
  /// `compress` and `flush` are what `MessageMetadata` has them be.
  @inlinable
  nonisolated(nonsending) public func send(
    _ request: Request,
    compress: Bool = true,
    flush: Bool = true
  ) async throws {
    switch sink {
    case .bytes(let pipe, let encode):
      var message = try encode(request)
      message.mayCompress = compress
      try await pipe.write(message, flush: flush)
    case .parts(let writer, _):
      try await writer.write(request, MessageMetadata(compress: compress, flush: flush))
    case .ended:
      throw GRPCStatus.writeAfterEnd
    }
  }

  /// Says that no more requests follow.
  public func finish() {
    switch sink {
    case .bytes(let pipe, _): pipe.finish()
    case .parts(let writer, let finish): if writer.finish() { finish() }
    case .ended: break
    }
  }

  /// Writing has failed: because the call ended, which then says so itself, or because of the writer, whose error ends
  /// the call.
  @usableFromInline
  func fail(_ error: any Error, of call: any ByteCall) {
    if case .bytes(let pipe, _) = sink, pipe.hasEnded { return }
    call.cancel(error is CancellationError ? .cancelledByCaller : GRPCStatus(describing: error))
  }
}
