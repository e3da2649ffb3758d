/// Encoding and decoding at the ends of a server's chain, in closures that are specialised for the method's types,
/// unlike the methods of a generic class. Created once for each method.
@usableFromInline
final class ServerCodec<Request: Sendable, Response: Sendable>: Sendable {
  @usableFromInline typealias Pipeline = ServerPipeline<Request, Response>
  @usableFromInline let method: MethodDescriptor
  @usableFromInline let send:
    @Sendable (Pipeline, borrowing Response, MessageMetadata, EventLoopPromise<Void>?) -> Void
  @usableFromInline let message: @Sendable (Pipeline, RawSpan) -> Void
  @usableFromInline let end: @Sendable (Pipeline) -> Void
  /// Starts the handler with a call's one request; does nothing if requests stream.
  @usableFromInline let startHandler: HandlerStart<Request, Response>

  @inlinable @inline(__always)
  init<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    startHandler: @escaping HandlerStart<Request, Response>.Start = { _, _ in }
  ) where RequestMarshaller.Message == Request, ResponseMarshaller.Message == Response {
    let (requests, responses) = (method.requests, method.responses)
    self.method = method.descriptor
    send = { pipeline, response, metadata, promise in
      do {
        pipeline.send(try responses.encode(copy response), metadata, promise)
      } catch {
        pipeline.failToEncode(error, promise)
      }
    }
    message = { pipeline, bytes in pipeline.receiveMessage { () throws in try requests.decode(bytes) } }
    end = { pipeline in pipeline.receiveFirst(.end) }
    self.startHandler = HandlerStart(startHandler)
  }
}

/// Starts a handler. Not copyable, because a closure is copied, which counts a reference, wherever it is called from a
/// field of an object.
@frozen
@usableFromInline
struct HandlerStart<Request: Sendable, Response: Sendable>: ~Copyable, Sendable {
  @usableFromInline typealias Start = @Sendable (ServerPipeline<Request, Response>, consuming Request) -> Void
  @usableFromInline let start: Start

  @inlinable
  init(_ start: @escaping Start) { self.start = start }

  @inlinable @inline(__always)
  func callAsFunction(_ pipeline: ServerPipeline<Request, Response>, _ request: consuming Request) {
    start(pipeline, request)
  }
}
