/// Sends the requests of a streaming call.
///
/// ```swift
/// let call = client.makeCollectCall()
/// try await call.requestStream.send(.with { $0.text = "one" })
/// call.requestStream.finish()
/// print(try await call.response.text)
/// ```
@frozen
public struct RequestStreamWriter<Request: Sendable>: Sendable {
  @usableFromInline
  @frozen
  enum Sink: Sendable {
    /// Straight to the transport.
    case bytes(MessagePipe, @Sendable (Request) throws -> MessageBuffer)
    /// Through a chain of interceptors; the closure ends the requests.
    case parts(PartWriter<Request>, @Sendable () -> Void)
    /// The call has all its requests.
    case ended
  }

  @usableFromInline let sink: Sink

  /// Writes the requests of `call`; an encoding error ends the call.
  @inlinable
  init(
    _ call: any ByteCall,
    _ pipe: MessagePipe,
    encode: @escaping @Sendable (Request) throws -> MessageBuffer
  ) {
    sink = .bytes(pipe) { request in
      let failed: (GRPCStatus) -> Void = { status in
        // First, so that the server does not mistake the requests for complete.
        call.cancel(status)
        pipe.abort(status)
      }
      return try GRPCStatus.encoding(failed: failed) { try encode(request) }
    }
  }

  /// A writer for a call that has all its requests.
  @inlinable
  init() { sink = .ended }

  @inlinable
  init<Response>(_ pipeline: ClientPipeline<Request, Response>) {
    sink = .parts(pipeline.makeWriter()) { pipeline.finishRequests() }
  }

  /// Sends a message, and returns when there is room for another. Throws if the call has ended.
  ///
  /// `MessageMetadata` describes `compress` and `flush`.
  @inlinable
  nonisolated(nonsending) public func send(
    _ request: Request,
    compress: Bool = true,
    flush: Bool = true
  ) async throws {
    do {
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
    } catch is CancellationError {
      throw GRPCStatus.waitCancelled
    }
  }

  /// Ends the requests.
  public func finish() {
    switch sink {
    case .bytes(let pipe, _): pipe.finish()
    case .parts(let writer, let finish): if writer.finish() { finish() }
    case .ended: break
    }
  }

  /// Ends the call with the error of a failed write, unless the call has already ended and reports its own status.
  @usableFromInline
  func fail(_ error: any Error, of call: any ByteCall) {
    if case .bytes(let pipe, _) = sink, pipe.hasEnded { return }
    call.cancel(error is CancellationError ? .cancelledByCaller : GRPCStatus(describing: error))
  }
}
